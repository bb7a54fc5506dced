package handlers

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"gatehouse/gen"
)

// The words of the contract are those of the domain. They stand in both, because the
// code of the contract is generated, so they are compared where they are declared.
func TestWordsOfTheContract(t *testing.T) {
	for name, words := range map[string]struct {
		folder string
		of     string // the type of the constants, or how the names of untyped ones begin
	}{
		"Scope":              {"access", "Scope"},
		"SessionKind":        {"session", "Kind"},
		"SessionState":       {"session", "State"},
		"UnavailableReason":  {"session", "Reason"},
		"TurnState":          {"session", "TurnState"},
		"MessageRole":        {"session", "Role"},
		"MessageType":        {"session", "MessageType"},
		"CommentLimit":       {"plan", "Limit"},
		"DraftStatus":        {"plan", "Verdict"},
		"DraftReason":        {"plan", "Reason"},
		"DeliveryKind":       {"prompt", "Kind"},
		"DeliveryState":      {"prompt", "State"},
		"DeliveryOutcome":    {"prompt", "Outcome"},
		"DeliveryResolution": {"prompt", "Resolution"},
		"ExecutionStatus":    {"subagent", "ExecutionStatus"},
		"ActivationState":    {"subagent", "ActivationState"},
		"SubagentSource":     {"subagent", "Source"},
		"AppendStatus":       {"history", "AppendStatus"},
		"FrameOutcome":       {"history", "FrameOutcome"},
		"FrameReason":        {"history", "FrameReason"},
		"ChangeType":         {"history", "ChangeType"},
		"DiffMode":           {"history", "DiffMode"},
		"DiffsMode":          {"history", "DiffsMode"},
		"SourceType":         {"history", "SourceType"},
		"RoundState":         {"history", "RoundState"},
		"EventName":          {"feed", "Name"},
	} {
		want := wordsOfContract(t, name)
		if diff := cmp.Diff(want, constants(t, words.folder, words.of)); diff != "" {
			t.Errorf("%s and %s.%s (-contract +domain):\n%s", name, words.folder, words.of, diff)
		}
	}
}

// API-4: every code that an error has is one of the contract.
func TestCodesOfTheContract(t *testing.T) {
	known := wordsOfContract(t, "ProblemCode")
	used := append(errorCodes(t, "../domain"), errorCodes(t, ".")...)
	if len(used) < 30 {
		t.Fatalf("found only %d codes", len(used))
	}
	for _, code := range used {
		if !slices.Contains(known, code) {
			t.Errorf("code %s is none of the contract", code)
		}
	}
}

// wordsOfContract are the values of an enum, sorted.
func wordsOfContract(t *testing.T, name string) []string {
	t.Helper()
	doc, err := gen.GetSpec()
	if err != nil {
		t.Fatal(err)
	}
	ref := doc.Components.Schemas[name]
	if ref == nil {
		t.Fatalf("the contract has no schema %s", name)
	}
	var words []string
	for _, value := range ref.Value.Enum {
		words = append(words, value.(string))
	}
	slices.Sort(words)
	return words
}

// constants are the values of the constants of a package of the domain whose type is
// of or, where they have none, whose names begin with it. They are sorted.
func constants(t *testing.T, folder, of string) []string {
	t.Helper()
	var values []string
	for _, file := range sources(t, "../domain/"+folder) {
		ast.Inspect(file, func(n ast.Node) bool {
			spec, ok := n.(*ast.ValueSpec)
			if !ok || len(spec.Values) != 1 {
				return true
			}
			typed, _ := spec.Type.(*ast.Ident)
			if typed != nil && typed.Name != of || typed == nil && !strings.HasPrefix(spec.Names[0].Name, of) {
				return true
			}
			if word, ok := text(spec.Values[0]); ok {
				values = append(values, word)
			}
			return true
		})
	}
	slices.Sort(values)
	return values
}

// errorCodes are the codes of the errors that the packages below a folder declare.
func errorCodes(t *testing.T, root string) []string {
	t.Helper()
	var found []string
	for _, file := range sources(t, root) {
		ast.Inspect(file, func(n ast.Node) bool {
			made, ok := n.(*ast.CompositeLit)
			if !ok || !isError(made.Type) {
				return true
			}
			for i, value := range made.Elts {
				if pair, ok := value.(*ast.KeyValueExpr); ok {
					if key, ok := pair.Key.(*ast.Ident); !ok || key.Name != "Code" {
						continue
					}
					value = pair.Value
				} else if i != 1 {
					continue
				}
				if code, ok := text(value); ok {
					found = append(found, code)
				}
			}
			return true
		})
	}
	return found
}

// isError reports whether a type is written Error or domain.Error.
func isError(expr ast.Expr) bool {
	switch named := expr.(type) {
	case *ast.Ident:
		return named.Name == "Error"
	case *ast.SelectorExpr:
		return named.Sel.Name == "Error"
	}
	return false
}

func text(expr ast.Expr) (string, bool) {
	literal, ok := expr.(*ast.BasicLit)
	if !ok || literal.Kind != token.STRING {
		return "", false
	}
	s, err := strconv.Unquote(literal.Value)
	return s, err == nil
}

// sources are the files below a folder that are no tests.
func sources(t *testing.T, root string) []*ast.File {
	t.Helper()
	var files []*ast.File
	err := fs.WalkDir(os.DirFS(root), ".", func(path string, _ fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go") {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), filepath.Join(root, path), nil, parser.SkipObjectResolution)
		files = append(files, file)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}
