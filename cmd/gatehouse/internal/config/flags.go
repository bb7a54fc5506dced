package config

import (
	"fmt"
	"reflect"
	"strings"
	"time"

	"github.com/spf13/pflag"
)

// AddFlags defines a flag for every setting. Their values are read by [Load].
func AddFlags(flags *pflag.FlagSet) {
	s := Defaults()
	bind(flags, &s)
}

// bind defines a flag for every field of s, with the value of the field as its
// default: setting the flag sets the field.
func bind(flags *pflag.FlagSet, s *Settings) {
	v := reflect.ValueOf(s).Elem()
	for i := range v.NumField() {
		tag := v.Type().Field(i).Tag
		name, usage := tag.Get("name"), tag.Get("usage")
		switch p := v.Field(i).Addr().Interface().(type) {
		case *string:
			flags.StringVar(p, name, *p, usage)
		case *bool:
			flags.BoolVar(p, name, *p, usage)
		case *int:
			flags.IntVar(p, name, *p, usage)
		case *float64:
			flags.Float64Var(p, name, *p, usage)
		case *time.Duration:
			flags.DurationVar(p, name, *p, usage)
		case *[]string:
			flags.StringSliceVar(p, name, *p, usage)
		case *Bytes:
			flags.Var(p, name, usage)
		default:
			panic(fmt.Sprintf("setting %s has a type without a flag: %T", name, p))
		}
	}
}

// known returns the names of all settings.
func known() map[string]bool {
	names := map[string]bool{}
	for _, field := range reflect.VisibleFields(reflect.TypeFor[Settings]()) {
		names[field.Tag.Get("name")] = true
	}
	return names
}

// envPrefix begins the name of every environment variable that is ours;
// reservedPrefix begins those that only tests read.
const (
	envPrefix      = "GATEHOUSE_"
	reservedPrefix = envPrefix + "TEST_"
)

// settingOf is the name of the setting that an environment variable sets.
func settingOf(variable string) string {
	return strings.ToLower(strings.ReplaceAll(strings.TrimPrefix(variable, envPrefix), "_", "-"))
}
