package handlers

import (
	"github.com/go-json-experiment/json/v1"
	"github.com/labstack/echo/v4"
)

// serializer reads bodies the way encoding/json does, in fewer passes.
type serializer struct{ echo.DefaultJSONSerializer }

// Deserialize implements [echo.JSONSerializer].
func (serializer) Deserialize(c echo.Context, into any) error {
	return json.NewDecoder(c.Request().Body).Decode(into)
}
