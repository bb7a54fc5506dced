package history

import (
	"path"
	"strings"
	"testing"
)

// HI-8.
func TestPathKey(t *testing.T) {
	tests := map[string]struct{ workspace, file, want string }{
		"inside":                           {"/srv/app", "/srv/app/src/a.go", "src/a.go"},
		"relative":                         {"/srv/app", "src/a.go", "src/a.go"},
		"dots":                             {"/srv/app", "/srv/app/./src//../src/a.go", "src/a.go"},
		"relative dots":                    {"/srv/app", "./src/../a.go", "a.go"},
		"out and in again":                 {"/srv/app", "/srv/app/../app/a.go", "a.go"},
		"relative, out and in again":       {"/srv/app", "../app/a.go", "a.go"},
		"workspace with a slash":           {"/srv/app/", "/srv/app/a.go", "a.go"},
		"workspace with dots":              {"/srv/./x/../app", "/srv/app/a.go", "a.go"},
		"file with a slash":                {"/srv/app", "/srv/app/src/", "src"},
		"the workspace":                    {"/srv/app", "/srv/app/", "."},
		"on the boundary of a segment":     {"/srv/app", "/srv/apple/a.go", "/srv/apple/a.go"},
		"outside":                          {"/srv/app", "/etc/./hosts", "/etc/hosts"},
		"escaping":                         {"/srv/app", "/srv/app/../other/a.go", "/srv/other/a.go"},
		"relative and escaping":            {"/srv/app", "../other/a.go", "/srv/other/a.go"},
		"beyond the root":                  {"/srv/app", "../../../../a.go", "/a.go"},
		"root workspace":                   {"/", "/a/b", "a/b"},
		"no workspace, absolute":           {"", "/srv/./a.go", "/srv/a.go"},
		"no workspace, relative":           {"", "./src/../a.go", "a.go"},
		"no workspace, escaping":           {"", "../a.go", "../a.go"},
		"no workspace, backslash":          {"", `a\b`, `a\b`},
		"relative workspace":               {"app", "app/a.go", "a.go"},
		"relative workspace, other file":   {"app", "src/a.go", "src/a.go"},
		"case":                             {"/srv/app", "/Work/app/A.go", "/Work/app/A.go"},
		"composed":                         {"/srv/app", "/srv/app/\u00e9", "\u00e9"},
		"decomposed":                       {"/srv/app", "/srv/app/e\u0301", "e\u0301"},
		"backslash is a character":         {"/srv/app", `/srv/app/a\b`, `a\b`},
		"drive-like name":                  {"/srv/app", `C:\x`, `C:\x`},
		"names of object members":          {"/srv/app", "__proto__", "__proto__"},
		"three dots":                       {"/srv/app", "/srv/app/.../a", ".../a"},
		"empty":                            {"/srv/app", "", "."},
		"a longer name than the workspace": {"/work", "/workshop/a.go", "/workshop/a.go"},
		"the workspace, bare":              {"/work", "/work", "."},
		"the workspace, relative":          {"/work", "src/..", "."},
		"above the workspace":              {"/work/app", "..", "/work"},
		"Windows, mixed separators":        {`C:\srv/app\`, `C:/srv\app/src\../src/a.go`, "src/a.go"},
		"Windows, the workspace":           {`C:\srv\app`, `C:\srv\app\`, "."},
		"Windows, empty":                   {`C:\srv\app`, "", "."},
		"Windows, file with a separator":   {`C:\srv\app`, `C:\srv\app\src\`, "src"},
		"Windows, out and in again":        {`C:\srv\app`, `..\app\a.go`, "a.go"},
		"server, mixed separators":         {`\\srv\share/app`, `//srv/share\app\a`, "a"},
		"server, boundary":                 {`\\srv\share\app`, `\\srv\share\apple\a`, "//srv/share/apple/a"},
		"server, the workspace":            {`\\srv\share\app`, `\\srv\share\app\`, "."},
		"server, rooted":                   {`\\srv\share\app`, `\app\a`, "a"},
		"Windows, inside":                  {`C:\srv\app`, `C:\srv\app\src\a.go`, "src/a.go"},
		"Windows, slashes":                 {`C:\srv\app`, `C:/srv/app/src/a.go`, "src/a.go"},
		"Windows, workspace with slashes":  {`C:/srv/app/`, `C:\srv\app\src\a.go`, "src/a.go"},
		"Windows, relative":                {`C:\srv\app`, `src\..\a.go`, "a.go"},
		"Windows, outside":                 {`C:\srv\app`, `C:\srv\.\beside\a.go`, "C:/srv/beside/a.go"},
		"Windows, boundary":                {`C:\srv\app`, `C:\srv\apple`, "C:/srv/apple"},
		"Windows, escaping":                {`C:\srv\app`, `..\beside`, "C:/srv/beside"},
		"Windows, beyond the root":         {`C:\srv\app`, `..\..\..\..\a`, "C:/a"},
		"Windows, other drive":             {`C:\srv\app`, `D:\srv\app\a`, "D:/srv/app/a"},
		"Windows, case of the drive":       {`C:\srv\app`, `c:\srv\app\a`, "c:/srv/app/a"},
		"Windows, rooted":                  {`C:\srv\app`, `\srv\app\a`, "a"},
		"Windows, drive as workspace":      {`C:\`, `C:\a\b`, "a/b"},
		"Windows, bare drive":              {`C:`, `C:\a`, "a"},
		"server, inside":                   {`\\srv\share\app`, `\\srv\share\app\a`, "a"},
		"server, relative":                 {`\\srv\share\app`, `b\a`, "b/a"},
		"server, escaping":                 {`\\srv\share\app`, `..\..\..\a`, "//srv/share/a"},
		"server, share as workspace":       {`\\srv\share`, `\\srv\share\a`, "a"},
		"server, other share":              {`\\srv\share\app`, `\\srv\public\a`, "//srv/public/a"},
		"server, drive":                    {`\\srv\share\app`, `C:\a`, "C:/a"},
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
	for _, workspace := range []string{"", "/", "/srv/app", `C:\srv`, "C:", `\\srv\share\app`, `\\srv`, "app"} {
		f.Add(workspace, "../a/./b")
		f.Add(workspace, `C:\srv\..\b`)
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
