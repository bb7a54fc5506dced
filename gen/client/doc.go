// Package client is generated from openapi.yaml: a client of the service. Nothing
// here is written by hand but this file.
package client
