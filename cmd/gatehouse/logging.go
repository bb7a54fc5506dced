package main

import (
	"io"
	"log/slog"
	"os"

	"golang.org/x/term"

	"gatehouse/cmd/gatehouse/internal/config"
)

// newLogger writes to w what is at least of the level of the settings: as text
// where a person reads it, as JSON where a program does (OP-9).
func newLogger(cfg config.Settings, w io.Writer) *slog.Logger {
	levels := map[string]slog.Level{"debug": slog.LevelDebug, "info": slog.LevelInfo, "warn": slog.LevelWarn, "error": slog.LevelError}
	options := &slog.HandlerOptions{Level: levels[cfg.LogLevel]}
	if cfg.LogFormat == "text" || cfg.LogFormat == "auto" && isTerminal(w) {
		return slog.New(slog.NewTextHandler(w, options))
	}
	return slog.New(slog.NewJSONHandler(w, options))
}

func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}
