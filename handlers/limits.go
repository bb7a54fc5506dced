package handlers

import (
	"compress/gzip"
	"errors"
	"io"
	"mime"
	"net/http"
	"strings"

	"github.com/labstack/echo/v4"
)

// BodyLimits are the most bytes of a body, counted after decompression (API-2).
type BodyLimits struct {
	JSON   int64 // of most operations
	Ingest int64 // of those that take what agents wrote
	Raw    int64 // of bodies that are no JSON
}

// firstRead bounds the memory that a Content-Length alone can claim.
const firstRead = 64 << 10

// open returns the body of a request, decompressed, that fails with
// [http.MaxBytesError] past limit. A client that sends more is cut off.
func open(c echo.Context, limit int64) (io.ReadCloser, error) {
	r, w := c.Request(), c.Response().Writer
	plain := http.MaxBytesReader(w, r.Body, limit)
	switch strings.ToLower(strings.Join(r.Header.Values(echo.HeaderContentEncoding), ",")) {
	case "", "identity":
		if r.ContentLength > limit {
			return nil, errTooLarge
		}
		return plain, nil
	case "gzip":
		unpacked, err := gzip.NewReader(plain)
		if err != nil {
			return nil, unreadable(err)
		}
		return http.MaxBytesReader(w, unpacked, limit), nil
	default:
		return nil, errMediaType.With("Send the body plain or with Content-Encoding gzip.")
	}
}

// readJSON returns the body of a request that is declared as JSON, nil when it is
// empty. What it holds is not judged.
func readJSON(c echo.Context, limit int64) ([]byte, error) {
	r := c.Request()
	if r.ContentLength == 0 {
		return nil, nil
	}
	if declared := r.Header.Values(echo.HeaderContentType); len(declared) > 0 && !isJSON(declared) {
		return nil, errMediaType
	}
	in, err := open(c, limit)
	if err != nil {
		return nil, err
	}
	defer func() { _ = in.Close() }()
	data, err := readAll(in, r.ContentLength)
	switch {
	case err != nil:
		return nil, unreadable(err)
	case len(data) > 0 && r.Header.Get(echo.HeaderContentType) == "":
		return nil, errMediaType
	}
	return data, nil
}

func isJSON(contentTypes []string) bool {
	mediaType, parameters, err := mime.ParseMediaType(contentTypes[0])
	charset := parameters["charset"]
	return len(contentTypes) == 1 && err == nil && mediaType == echo.MIMEApplicationJSON &&
		(charset == "" || strings.EqualFold(charset, "utf-8"))
}

func readAll(in io.Reader, declared int64) ([]byte, error) {
	data := make([]byte, 0, min(max(declared, 0), firstRead)+512)
	for {
		n, err := in.Read(data[len(data):cap(data)])
		data = data[:len(data)+n]
		if errors.Is(err, io.EOF) {
			return data, nil
		}
		if err != nil {
			return nil, err
		}
		if len(data) == cap(data) {
			data = append(data, 0)[:len(data)]
		}
	}
}

// unreadable returns what a body is answered with that could not be read to its
// end: it is too large, cut off, or not what its encoding says.
func unreadable(err error) error {
	if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return errTooLarge
	}
	return errMalformed
}
