package config

import (
	"reflect"
	"time"

	"github.com/knadh/koanf/parsers/yaml"
)

// YAML is s in the form of a settings file, with secrets hidden (OP-2).
func (s Settings) YAML() ([]byte, error) {
	v := reflect.ValueOf(&s).Elem()
	values := make(map[string]any, v.NumField())
	for i := range v.NumField() {
		tag := v.Type().Field(i).Tag
		name := tag.Get("name")
		switch p := v.Field(i).Addr().Interface().(type) {
		case *string:
			values[name] = shown(*p, tag.Get("secret"))
		case *time.Duration:
			values[name] = p.String()
		case *Bytes:
			values[name] = p.String()
		default:
			values[name] = v.Field(i).Interface()
		}
	}
	// A settings file cannot name another.
	delete(values, "config")
	return yaml.Parser().Marshal(values)
}

// shown is a value as it may be shown, given what of it is secret.
func shown(value, secret string) string {
	switch {
	case value == "" || secret == "":
		return value
	case secret == "url":
		return withoutSecrets(value)
	default:
		return hidden
	}
}
