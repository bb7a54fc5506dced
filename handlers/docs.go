package handlers

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"time"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/labstack/echo/v4"
	"github.com/swaggest/swgui/v5emb"
	"go.yaml.in/yaml/v3"
)

// docsPolicy keeps the pages of Swagger UI from loading anything from elsewhere.
const docsPolicy = "default-src 'self'; script-src 'self' 'unsafe-inline'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; frame-ancestors 'none'"

// serveDocs adds Swagger UI, which shows the contract at /docs/ without a token
// and without the network (API-11).
func serveDocs(e *echo.Echo, ops operations, title string) {
	op := &operation{id: "docs", route: "/docs/", rule: Rule{Scope: Public}}
	ui := v5emb.New(title, "/openapi.json", "/docs/")
	for route, handle := range map[string]echo.HandlerFunc{
		"/docs": func(c echo.Context) error { return c.Redirect(http.StatusMovedPermanently, "/docs/") },
		"/docs/*": func(c echo.Context) error {
			h := c.Response().Header()
			h.Set(echo.HeaderContentSecurityPolicy, docsPolicy)
			h.Set(echo.HeaderXContentTypeOptions, "nosniff")
			ui.ServeHTTP(c.Response(), c.Request())
			return nil
		},
	} {
		e.GET(route, handle)
		ops[http.MethodGet+" "+route] = op
	}
}

// contract is openapi.yaml as it is served: what the generated code was made of,
// written once as JSON and once as YAML.
type contract struct {
	json, yaml []byte
}

func newContract(doc *openapi3.T) (contract, error) {
	asJSON, err := doc.MarshalJSON()
	if err != nil {
		return contract{}, fmt.Errorf("write contract as JSON: %w", err)
	}
	var tree any
	if err := yaml.Unmarshal(asJSON, &tree); err != nil {
		return contract{}, fmt.Errorf("read contract: %w", err)
	}
	asYAML, err := yaml.Marshal(tree)
	if err != nil {
		return contract{}, fmt.Errorf("write contract as YAML: %w", err)
	}
	return contract{asJSON, asYAML}, nil
}

// serveJSON and serveYAML answer GET /openapi.json and GET /openapi.yaml. A
// client that has the contract already is told so.
func (k contract) serveJSON(w http.ResponseWriter, r *http.Request) {
	serveText(w, r, echo.MIMEApplicationJSON, k.json)
}

func (k contract) serveYAML(w http.ResponseWriter, r *http.Request) {
	serveText(w, r, "application/yaml", k.yaml)
}

func serveText(w http.ResponseWriter, r *http.Request, mediaType string, text []byte) {
	sum := sha256.Sum256(text)
	w.Header().Set("ETag", `"`+hex.EncodeToString(sum[:8])+`"`)
	w.Header().Set(echo.HeaderContentType, mediaType)
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(text))
}
