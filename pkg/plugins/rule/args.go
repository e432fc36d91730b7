package rule

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	kjson "sigs.k8s.io/json"
	"sigs.k8s.io/yaml"
)

// Args is what the arguments of every plugin have in common.
type Args struct {
	metav1.TypeMeta `json:",inline"`
}

// NoArgs are the arguments of a plugin that has none.
type NoArgs struct {
	Args `json:",inline"`
}

// Decode reads a plugin's arguments over its defaults, strictly: an unknown or repeated field, a wrong type and a value
// out of range are errors that name the plugin, the field's path and the value.
func Decode[T any](plugin string, obj runtime.Object, defaults T, validate func(T) field.ErrorList) (T, error) {
	args, err := decode(obj, defaults)
	if err == nil && validate != nil {
		err = validate(args).ToAggregate()
	}
	if err != nil {
		return args, fmt.Errorf("reading the arguments of plugin %s: %w", plugin, err)
	}
	return args, nil
}

func decode[T any](obj runtime.Object, defaults T) (T, error) {
	args := defaults
	if obj == nil {
		return args, nil
	}
	unknown, ok := obj.(*runtime.Unknown)
	if !ok {
		return args, fmt.Errorf("got a %T, want the raw fields", obj)
	}
	raw, err := yaml.YAMLToJSONStrict(unknown.Raw)
	if err != nil {
		return args, errors.New(strings.Join(strings.Fields(err.Error()), " ")) // it comes in several lines
	}
	unknownFields, err := kjson.UnmarshalStrict(raw, &args)
	if err != nil {
		return args, withValue(err, raw)
	}
	return args, errors.Join(unknownFields...)
}

// withValue adds to an error of type the value that is wrong, which the decoder leaves out.
func withValue(err error, raw []byte) error {
	var wrong *json.UnmarshalTypeError
	if !errors.As(err, &wrong) {
		return err
	}
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.UseNumber() // lest 99999999999 becomes 9.9999999999e+10
	var value any
	if decoder.Decode(&value) != nil {
		return err
	}
	var path *field.Path
	for name := range strings.SplitSeq(wrong.Field, ".") {
		// A name that is no field is of a struct within the struct.
		if fields, ok := value.(map[string]any); ok && fields[name] != nil {
			path, value = path.Child(name), fields[name]
		}
	}
	if path == nil {
		path = field.NewPath("args")
	}
	return field.TypeInvalid(path, value, "must be "+kind(wrong))
}

// kind names a type in a reader's words.
func kind(wrong *json.UnmarshalTypeError) string {
	switch wrong.Type.Kind().String() {
	case "int32":
		return "a whole number up to 2147483647"
	case "struct":
		return "a map of fields"
	default:
		return "a " + wrong.Type.Kind().String()
	}
}
