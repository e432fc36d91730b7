// Package hack holds what the checks of this repository need: scripts, and tests of rules that no linter knows.
package hack

import (
	"errors"
	"fmt"
	"go/build"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const (
	module     = "vpod.dev/vpod-scheduler"
	kubernetes = "k8s.io/kubernetes"
	root       = ".."
)

// layer says what the packages in one folder may import. Imports point one way: placement <- snapshot <- plugins and
// controllers <- cmd.
type layer struct {
	folder string
	// ours are the folders of this module that it may import, beside its own.
	ours []string
	// onlyStd forbids other people's modules, too.
	onlyStd bool
	// kubernetes allows k8s.io/kubernetes, whose packages promise no stable interface.
	kubernetes bool
}

var layers = []layer{
	{folder: "pkg/apis"},
	{folder: "pkg/placement", onlyStd: true},
	{folder: "pkg/snapshot", ours: []string{"pkg/placement", "pkg/apis"}},
	{folder: "pkg/plugins", ours: []string{"pkg/snapshot", "pkg/placement", "pkg/apis"}},
	{folder: "pkg/controllers", ours: []string{"pkg/snapshot", "pkg/placement", "pkg/apis"}},
	{folder: "manifests"},
	{folder: "hack"},
	{folder: "cmd/scheduler", ours: []string{"pkg/plugins", "pkg/apis", "manifests"}, kubernetes: true},
	{folder: "cmd/controller", ours: []string{"pkg/controllers", "pkg/apis", "manifests"}},
	{folder: "cmd/vpod-lab", ours: []string{"test/lab", "pkg/apis", "manifests"}},
	{folder: "test", ours: []string{"pkg", "manifests"}, kubernetes: true},
}

// within tells whether a package, given by its folder, is the folder or lies in it.
func within(pkg, folder string) bool {
	return pkg == folder || strings.HasPrefix(pkg, folder+"/")
}

// violations lists what the package in a folder imports against the rules of its layer.
func violations(folder string, imports []string) []string {
	i := slices.IndexFunc(layers, func(l layer) bool { return within(folder, l.folder) })
	if i < 0 {
		return []string{folder + " belongs to no layer"}
	}
	l := layers[i]
	var found []string
	for _, imported := range imports {
		local, isOurs := strings.CutPrefix(imported, module+"/")
		first, _, _ := strings.Cut(imported, "/")
		isStd := !strings.Contains(first, ".")
		allowed := isStd || !l.onlyStd && (l.kubernetes || !within(imported, kubernetes))
		if isOurs {
			allowed = within(local, l.folder) || slices.ContainsFunc(l.ours, func(o string) bool { return within(local, o) })
		}
		if !allowed {
			found = append(found, fmt.Sprintf("%s imports %s", folder, imported))
		}
	}
	return found
}

func TestViolations(t *testing.T) {
	const (
		apis       = module + "/pkg/apis/v1alpha1"
		placement  = module + "/pkg/placement"
		snapshot   = module + "/pkg/snapshot"
		plugins    = module + "/pkg/plugins"
		controller = module + "/pkg/controllers/vpod"
		inTree     = kubernetes + "/pkg/scheduler"
		framework  = "k8s.io/kube-scheduler/framework"
	)
	for name, tc := range map[string]struct {
		folder    string
		allowed   []string
		forbidden []string
	}{
		"identifiers":  {folder: "pkg/apis/v1alpha1", forbidden: []string{placement, inTree}},
		"placement":    {folder: "pkg/placement", allowed: []string{"slices", "math/bits"}, forbidden: []string{framework, apis, snapshot}},
		"snapshot":     {folder: "pkg/snapshot", allowed: []string{placement, apis, framework}, forbidden: []string{plugins, controller, inTree}},
		"all plugins":  {folder: "pkg/plugins", allowed: []string{plugins + "/evenpodspread", snapshot}, forbidden: []string{controller}},
		"a plugin":     {folder: "pkg/plugins/evenpodspread", allowed: []string{plugins + "/args", framework}, forbidden: []string{inTree, kubernetes}},
		"a controller": {folder: "pkg/controllers/vpod", allowed: []string{snapshot, placement, apis}, forbidden: []string{plugins}},
		"scheduler":    {folder: "cmd/scheduler", allowed: []string{plugins, inTree}, forbidden: []string{controller, module + "/test/lab"}},
		"lab command":  {folder: "cmd/vpod-lab", allowed: []string{module + "/test/lab"}, forbidden: []string{plugins, inTree}},
		"tests":        {folder: "test/lab", allowed: []string{plugins, controller, inTree, module + "/manifests"}},
	} {
		t.Run(name, func(t *testing.T) {
			var want []string
			for _, imported := range tc.forbidden {
				want = append(want, tc.folder+" imports "+imported)
			}
			if diff := cmp.Diff(want, violations(tc.folder, slices.Concat(tc.allowed, tc.forbidden))); diff != "" {
				t.Errorf("violations (-want +got):\n%s", diff)
			}
		})
	}
}

func TestNewPackageHasToChooseALayer(t *testing.T) {
	for _, folder := range []string{"pkg/util", "pkg/placementx", "internal"} {
		if diff := cmp.Diff([]string{folder + " belongs to no layer"}, violations(folder, nil)); diff != "" {
			t.Errorf("violations (-want +got):\n%s", diff)
		}
	}
}

// folders calls visit with each folder of the module that may hold Go files, relative to its root.
func folders(t *testing.T, visit func(folder string)) {
	t.Helper()
	err := fs.WalkDir(os.DirFS(root), ".", func(folder string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.IsDir() || folder == "." {
			return err
		}
		_, err = os.Stat(filepath.Join(root, folder, "go.mod"))
		isModule := err == nil
		if name := path.Base(folder); isModule || name == "testdata" || strings.HasPrefix(name, ".") || strings.HasPrefix(name, "_") {
			return fs.SkipDir
		}
		visit(folder)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// Test code may import what it likes; only the packages themselves are judged.
func TestImports(t *testing.T) {
	packages := 0
	folders(t, func(folder string) {
		pkg, err := build.ImportDir(filepath.Join(root, folder), 0)
		if _, isEmpty := errors.AsType[*build.NoGoError](err); isEmpty {
			return
		}
		if err != nil {
			t.Error(err)
			return
		}
		packages++
		for _, violation := range violations(folder, pkg.Imports) {
			t.Error(violation)
		}
	})
	if packages < 5 {
		t.Errorf("found %d packages: looked in the wrong place", packages)
	}
}
