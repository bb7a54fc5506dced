package history

import (
	"path"
	"strings"
	"testing"
)

// HI-8.
func TestPathKey(t *testing.T) {
	tests := map[string]struct{ workspace, file, want string }{
		"inside":                          {"/work/app", "/work/app/src/a.go", "src/a.go"},
		"relative":                        {"/work/app", "src/a.go", "src/a.go"},
		"dots":                            {"/work/app", "/work/app/./src//../src/a.go", "src/a.go"},
		"relative dots":                   {"/work/app", "./src/../a.go", "a.go"},
		"out and in again":                {"/work/app", "/work/app/../app/a.go", "a.go"},
		"relative, out and in again":      {"/work/app", "../app/a.go", "a.go"},
		"workspace with a slash":          {"/work/app/", "/work/app/a.go", "a.go"},
		"workspace with dots":             {"/work/./x/../app", "/work/app/a.go", "a.go"},
		"file with a slash":               {"/work/app", "/work/app/src/", "src"},
		"the workspace":                   {"/work/app", "/work/app/", "."},
		"on the boundary of a segment":    {"/work/app", "/work/apple/a.go", "/work/apple/a.go"},
		"outside":                         {"/work/app", "/etc/./hosts", "/etc/hosts"},
		"escaping":                        {"/work/app", "/work/app/../other/a.go", "/work/other/a.go"},
		"relative and escaping":           {"/work/app", "../other/a.go", "/work/other/a.go"},
		"beyond the root":                 {"/work/app", "../../../../a.go", "/a.go"},
		"root workspace":                  {"/", "/a/b", "a/b"},
		"no workspace, absolute":          {"", "/work/./a.go", "/work/a.go"},
		"no workspace, relative":          {"", "./src/../a.go", "a.go"},
		"no workspace, escaping":          {"", "../a.go", "../a.go"},
		"no workspace, backslash":         {"", `a\b`, `a\b`},
		"relative workspace":              {"app", "app/a.go", "a.go"},
		"relative workspace, other file":  {"app", "src/a.go", "src/a.go"},
		"case":                            {"/work/app", "/Work/app/A.go", "/Work/app/A.go"},
		"composed":                        {"/work/app", "/work/app/\u00e9", "\u00e9"},
		"decomposed":                      {"/work/app", "/work/app/e\u0301", "e\u0301"},
		"backslash is a character":        {"/work/app", `/work/app/a\b`, `a\b`},
		"drive-like name":                 {"/work/app", `C:\x`, `C:\x`},
		"names of object members":         {"/work/app", "__proto__", "__proto__"},
		"three dots":                      {"/work/app", "/work/app/.../a", ".../a"},
		"empty":                           {"/work/app", "", "."},
		"Windows, inside":                 {`C:\work\app`, `C:\work\app\src\a.go`, "src/a.go"},
		"Windows, slashes":                {`C:\work\app`, `C:/work/app/src/a.go`, "src/a.go"},
		"Windows, workspace with slashes": {`C:/work/app/`, `C:\work\app\src\a.go`, "src/a.go"},
		"Windows, relative":               {`C:\work\app`, `src\..\a.go`, "a.go"},
		"Windows, outside":                {`C:\work\app`, `C:\work\.\beside\a.go`, "C:/work/beside/a.go"},
		"Windows, boundary":               {`C:\work\app`, `C:\work\apple`, "C:/work/apple"},
		"Windows, escaping":               {`C:\work\app`, `..\beside`, "C:/work/beside"},
		"Windows, beyond the root":        {`C:\work\app`, `..\..\..\..\a`, "C:/a"},
		"Windows, other drive":            {`C:\work\app`, `D:\work\app\a`, "D:/work/app/a"},
		"Windows, case of the drive":      {`C:\work\app`, `c:\work\app\a`, "c:/work/app/a"},
		"Windows, rooted":                 {`C:\work\app`, `\work\app\a`, "a"},
		"Windows, drive as workspace":     {`C:\`, `C:\a\b`, "a/b"},
		"Windows, bare drive":             {`C:`, `C:\a`, "a"},
		"server, inside":                  {`\\srv\share\app`, `\\srv\share\app\a`, "a"},
		"server, relative":                {`\\srv\share\app`, `b\a`, "b/a"},
		"server, escaping":                {`\\srv\share\app`, `..\..\..\a`, "//srv/share/a"},
		"server, share as workspace":      {`\\srv\share`, `\\srv\share\a`, "a"},
		"server, other share":             {`\\srv\share\app`, `\\srv\public\a`, "//srv/public/a"},
		"server, drive":                   {`\\srv\share\app`, `C:\a`, "C:/a"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if got := PathKey(test.workspace, test.file); got != test.want {
				t.Errorf("PathKey(%q, %q) = %q, want %q", test.workspace, test.file, got, test.want)
			}
		})
	}
}

func FuzzPathKey(f *testing.F) {
	for _, workspace := range []string{"", "/", "/work/app", `C:\work`, "C:", `\\srv\share\app`, `\\srv`, "app"} {
		f.Add(workspace, "../a/./b")
		f.Add(workspace, `C:\work\..\b`)
		f.Add(workspace, `\\srv\share\app\x`)
	}
	f.Fuzz(func(t *testing.T, workspace, file string) {
		key := PathKey(workspace, file)
		if key == "" {
			t.Error("an empty key")
		}
		if strings.HasPrefix(workspace, "/") {
			if key != path.Clean(key) || strings.HasPrefix(key, "../") {
				t.Errorf("%q is not clean", key)
			}
			if again := PathKey(workspace, key); again != key {
				t.Errorf("the key of %q is %q", key, again)
			}
			if inside := PathKey(workspace, workspace+"/"+key); !strings.HasPrefix(key, "/") && inside != key {
				t.Errorf("%q inside the workspace is %q", key, inside)
			}
		}
		if isWindows(workspace) && strings.Contains(key, `\`) {
			t.Errorf("%q has a backslash", key)
		}
	})
}
