// Package gen holds the code generated from openapi.yaml: types, the strict Echo
// server and the embedded contract. Nothing here is written by hand but this file.
package gen

//go:generate go tool oapi-codegen -config oapi-codegen.yaml ../openapi.yaml
//go:generate go tool oapi-codegen -config client/oapi-codegen.yaml ../openapi.yaml
