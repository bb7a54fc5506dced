package handlers

import (
	"bytes"
	"context"
	"net/url"
	"strings"

	"github.com/labstack/echo/v4"

	"gatehouse/domain/prompt"
	"gatehouse/gen"
)

func attachmentBody(a prompt.Attachment) gen.Attachment {
	return gen.Attachment{
		ID: a.ID, TaskID: a.TaskID, Name: a.Name, MediaType: a.MediaType, Bytes: a.Bytes,
		DeliveryID: nullOr(a.DeliveryID), CreatedAt: at(a.CreatedAt), ExpiresAt: nullAt(a.ExpiresAt),
	}
}

func attachedBody(a prompt.Attached) gen.DeliveryAttachment {
	return gen.DeliveryAttachment{ID: a.ID, Name: a.Name, MediaType: a.MediaType, Bytes: a.Bytes}
}

// CreateAttachment implements POST /v1/tasks/{task_id}/attachments.
func (a *API) CreateAttachment(ctx context.Context, r gen.CreateAttachmentRequestObject) (gen.CreateAttachmentResponseObject, error) {
	sent := requestOf(ctx).http
	content, err := readAll(r.Body, sent.ContentLength)
	if err != nil {
		return nil, unreadable(err)
	}
	staged, err := a.Prompts.Stage(ctx, prompt.NewAttachment{
		TaskID:    taskOf(ctx),
		Name:      r.Params.Name,
		MediaType: strings.Join(sent.Header.Values(echo.HeaderContentType), ", "), // of several there is none
		Content:   content,
	})
	if err != nil {
		return nil, err
	}
	return gen.CreateAttachment201JSONResponse{
		Body:    attachmentBody(staged),
		Headers: gen.CreateAttachment201ResponseHeaders{Location: "/v1/tasks/" + staged.TaskID + "/attachments/" + staged.ID},
	}, nil
}

// ListAttachments implements GET /v1/tasks/{task_id}/attachments.
func (a *API) ListAttachments(ctx context.Context, r gen.ListAttachmentsRequestObject) (gen.ListAttachmentsResponseObject, error) {
	page, err := a.Prompts.Attachments(ctx, taskOf(ctx), pageRequest(r.Params.Limit, r.Params.Cursor))
	if err != nil {
		return nil, err
	}
	return gen.ListAttachments200JSONResponse{Items: each(page.Items, attachmentBody), NextCursor: nullOr(page.NextCursor)}, nil
}

// GetAttachment implements GET /v1/tasks/{task_id}/attachments/{attachment_id}.
func (a *API) GetAttachment(ctx context.Context, r gen.GetAttachmentRequestObject) (gen.GetAttachmentResponseObject, error) {
	found, content, err := a.Prompts.AttachmentContent(ctx, taskOf(ctx), idOf(r.AttachmentID))
	if err != nil {
		return nil, err
	}
	return gen.GetAttachment200AsteriskResponse{
		Body:          bytes.NewReader(content),
		ContentType:   found.MediaType,
		ContentLength: found.Bytes,
		Headers: gen.GetAttachment200ResponseHeaders{
			ContentDisposition:    download(found.Name),
			ContentSecurityPolicy: attachmentPolicy,
			XContentTypeOptions:   "nosniff",
			CacheControl:          "private",
		},
	}, nil
}

// DeleteAttachment implements DELETE /v1/tasks/{task_id}/attachments/{attachment_id}.
func (a *API) DeleteAttachment(ctx context.Context, r gen.DeleteAttachmentRequestObject) (gen.DeleteAttachmentResponseObject, error) {
	if err := a.Prompts.DeleteAttachment(ctx, taskOf(ctx), idOf(r.AttachmentID)); err != nil {
		return nil, err
	}
	return gen.DeleteAttachment204Response{}, nil
}

// attachmentPolicy lets what a person uploaded do nothing, wherever it is opened
// (API-25).
const attachmentPolicy = "sandbox; default-src 'none'"

// download is the Content-Disposition that saves a file under name and never shows it
// (RFC 6266). Clients that know no filename* get the name in ASCII, without what some
// of them would unescape or take for a path.
func download(name string) string {
	plain := strings.Map(func(r rune) rune {
		if r < ' ' || r > '~' || strings.ContainsRune(`"\/%`, r) {
			return '_'
		}
		return r
	}, name)
	disposition := `attachment; filename="` + plain + `"`
	if plain == name {
		return disposition
	}
	return disposition + "; filename*=UTF-8''" + strings.ReplaceAll(url.QueryEscape(name), "+", "%20")
}
