package manifests

import (
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

// kubectl explain has a text for each field.
func TestEachFieldIsDescribed(t *testing.T) {
	kinds := decode[apiextensionsv1.CustomResourceDefinition](t, "crds", "CustomResourceDefinition")
	if len(kinds) != 2 {
		t.Fatalf("got %d kinds, want 2", len(kinds))
	}
	for _, kind := range kinds {
		for _, version := range kind.Spec.Versions {
			for _, path := range undescribed(*version.Schema.OpenAPIV3Schema, kind.Spec.Names.Singular) {
				t.Errorf("no description of %s", path)
			}
		}
	}
}

// undescribed lists the fields without a description. That of metadata comes from the API server.
func undescribed(schema apiextensionsv1.JSONSchemaProps, path string) []string {
	var found []string
	if schema.Description == "" {
		found = append(found, path)
	}
	for name, property := range schema.Properties {
		if name != "metadata" {
			found = append(found, undescribed(property, path+"."+name)...)
		}
	}
	if schema.Items != nil && schema.Items.Schema != nil {
		found = append(found, undescribed(*schema.Items.Schema, path+"[]")...)
	}
	return found
}

func TestUndescribedFindsIt(t *testing.T) {
	described := func(p apiextensionsv1.JSONSchemaProps) apiextensionsv1.JSONSchemaProps {
		p.Description = "something"
		return p
	}
	items := described(apiextensionsv1.JSONSchemaProps{Properties: map[string]apiextensionsv1.JSONSchemaProps{"b": {}}})
	root := described(apiextensionsv1.JSONSchemaProps{Properties: map[string]apiextensionsv1.JSONSchemaProps{
		"metadata": {}, "a": described(apiextensionsv1.JSONSchemaProps{Items: &apiextensionsv1.JSONSchemaPropsOrArray{Schema: &items}}),
	}})
	if found := undescribed(root, "kind"); len(found) != 1 || found[0] != "kind.a[].b" {
		t.Errorf("found %v, want kind.a[].b", found)
	}
}
