package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gatehouse/db/dbtest"
)

func TestMigrateAnEmptyDatabase(t *testing.T) { // OP-4
	file := filepath.Join(t.TempDir(), "gatehouse.db")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	environ := []string{"GATEHOUSE_DATABASE=sqlite://" + file}
	steps := []struct{ command, wants string }{
		{"status", "  pending  "},
		{"up", "_init.sql"},
		{"up", "nothing to do"},
		{"status", "Z  2"},
	}
	for _, step := range steps {
		status, out, errs := runProgram(t, environ, "migrate", step.command)
		if status != 0 || !strings.Contains(out, step.wants) {
			t.Errorf("%s: %d %q %q", step.command, status, out, errs)
		}
	}
}

func TestMigrateAMigratedDatabase(t *testing.T) { // OP-4
	dbtest.EachURL(t, func(t *testing.T, newURL func(testing.TB) string) {
		t.Helper()
		environ := []string{"GATEHOUSE_DATABASE=" + newURL(t)}
		if status, out, errs := runProgram(t, environ, "migrate", "status"); status != 0 || out == "" || strings.Contains(out, "pending") {
			t.Errorf("status: %d %q %q", status, out, errs)
		}
		if status, out, errs := runProgram(t, environ, "migrate", "up"); status != 0 || !strings.Contains(out, "nothing to do") {
			t.Errorf("up: %d %q %q", status, out, errs)
		}
	})
}

func TestMigrateHidesThePassword(t *testing.T) { // OP-3
	const password = "correct-horse-battery"
	environ := []string{"GATEHOUSE_DATABASE=postgres://gatehouse:" + password + "@127.0.0.1:1/gatehouse?connect_timeout=2"}
	status, out, errs := runProgram(t, environ, "migrate", "status")
	if status != 1 || strings.Contains(out+errs, password) {
		t.Errorf("%d %q %q", status, out, errs)
	}
}
