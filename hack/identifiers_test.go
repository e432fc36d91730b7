package hack

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"vpod.dev/vpod-scheduler/pkg/apis/v1alpha1"
)

// identifiers is the one folder that spells labels, annotations, taints and resources.
const identifiers = "pkg/apis/v1alpha1"

// spelled lists the string literals of a file that contain the API group, imports and struct tags left aside.
func spelled(file *ast.File) []string {
	var found []string
	ast.Inspect(file, func(node ast.Node) bool {
		switch n := node.(type) {
		case *ast.ImportSpec:
			return false
		case *ast.Field:
			n.Tag = nil
		case *ast.BasicLit:
			if text, err := strconv.Unquote(n.Value); err == nil && n.Kind == token.STRING && strings.Contains(text, v1alpha1.GroupName) {
				found = append(found, text)
			}
		}
		return true
	})
	return found
}

func TestSpelled(t *testing.T) {
	for name, tc := range map[string]struct {
		source string
		want   []string
	}{
		"a label":               {source: `package p; const label = "vpod.dev/pool"`, want: []string{"vpod.dev/pool"}},
		"a raw string":          {source: "package p; var s = `{\"vpod.dev/pool\": \"p\"}`", want: []string{`{"vpod.dev/pool": "p"}`}},
		"in a call":             {source: `package p; var s = f("vpod.dev/pool")`, want: []string{"vpod.dev/pool"}},
		"an import":             {source: `package p; import _ "vpod.dev/vpod-scheduler/pkg/placement"`},
		"a comment":             {source: `package p // vpod.dev/pool`},
		"the name of something": {source: `package p; const name = "vpod-scheduler"`},
	} {
		t.Run(name, func(t *testing.T) {
			file, err := parser.ParseFile(token.NewFileSet(), "p.go", tc.source, 0)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, spelled(file)); diff != "" {
				t.Errorf("found (-want +got):\n%s", diff)
			}
		})
	}
}

func TestIdentifiersLiveInOnePlace(t *testing.T) {
	files := 0
	folders(t, func(folder string) {
		if folder == identifiers {
			return
		}
		paths, err := filepath.Glob(filepath.Join(root, folder, "*.go"))
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range paths {
			if strings.HasSuffix(path, "_test.go") {
				continue
			}
			files++
			file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
			if err != nil {
				t.Error(err)
				continue
			}
			for _, text := range spelled(file) {
				t.Errorf("%s spells %q; take it from %s", path, text, identifiers)
			}
		}
	})
	if files < 5 {
		t.Errorf("found %d files: looked in the wrong place", files)
	}
}
