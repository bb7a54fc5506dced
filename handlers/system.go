package handlers

import (
	"context"
	"maps"
	"net/http"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"gatehouse/domain"
)

// Readiness tells whether requests can be served.
type Readiness interface {
	// Ready returns [domain.ErrUnavailable], wrapped with why, while the service is
	// starting or stopping, the database is away or of another schema, or recovery
	// does not run (OP-14).
	Ready(ctx context.Context) error
}

// limitsInForce returns every limit by name, as /v1/limits lists them: in bytes,
// counts or seconds (API-11). more holds those that are settings beyond bodies.
func limitsInForce(bodies BodyLimits, more map[string]int64) map[string]int64 {
	limits := map[string]int64{
		"request_body_bytes":            bodies.JSON,
		"ingestion_body_bytes":          bodies.Ingest,
		"attachment_bytes":              bodies.Raw,
		"json_depth":                    domain.MaxJSONDepth,
		"short_text_bytes":              domain.MaxShortText,
		"description_bytes":             domain.MaxDescription,
		"metadata_bytes":                domain.MaxMetadata,
		"metadata_depth":                domain.MaxMetadataDepth,
		"path_bytes":                    domain.MaxPath,
		"plan_content_bytes":            domain.MaxPlanContent,
		"prompt_content_bytes":          domain.MaxPromptContent,
		"message_text_bytes":            domain.MaxMessageText,
		"opaque_id_bytes":               domain.MaxOpaqueID,
		"batch_items":                   domain.MaxBatch,
		"file_changes_per_message":      domain.MaxFileChanges,
		"messages_per_page":             domain.MaxPageMessages,
		"page_text_bytes":               domain.MaxPageText,
		"rounds_per_page":               domain.MaxRounds,
		"refs_per_prompt":               domain.MaxRefs,
		"attachments_per_prompt":        domain.MaxAttachments,
		"attachments_staged_per_task":   domain.MaxStaged,
		"comment_body_bytes":            domain.MaxCommentBody,
		"comment_selected_text_bytes":   domain.MaxCommentSelected,
		"comments_per_plan":             domain.MaxCommentCount,
		"comments_per_plan_total_bytes": domain.MaxCommentTotal,
		"snapshot_side_bytes":           domain.MaxSnapshotSide,
		"patch_bytes":                   domain.MaxPatch,
		"page_diff_text_bytes":          domain.MaxPageDiffText,
		"delegation_depth":              domain.MaxNesting,
		"list_items":                    domain.MaxListItems,
		"list_items_default":            domain.DefaultListItems,
		"lease_seconds":                 domain.MaxLeaseSeconds,
		"lease_seconds_default":         domain.DefaultLease,
		"wait_seconds":                  domain.MaxWaitSeconds,
	}
	maps.Copy(limits, more)
	return limits
}

// MetricsHandler answers GET /metrics, here or on a listener of its own (OP-8).
func MetricsHandler(registry prometheus.Gatherer) http.Handler {
	return promhttp.HandlerFor(registry, promhttp.HandlerOpts{})
}
