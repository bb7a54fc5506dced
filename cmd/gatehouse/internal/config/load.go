package config

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/knadh/koanf/parsers/yaml"
	"github.com/knadh/koanf/providers/env/v2"
	"github.com/knadh/koanf/providers/file"
	"github.com/knadh/koanf/providers/posflag"
	"github.com/knadh/koanf/v2"
	"github.com/spf13/pflag"
)

// delimiter separates levels of a koanf key. Settings have one level, so that a
// key with a delimiter is an unknown setting.
const delimiter = "."

// ErrSetting is what every refusal of a setting unwraps to.
var ErrSetting = errors.New("setting refused")

// Load returns the effective settings: flags that were set, over environ (of the
// form of os.Environ), over the YAML file that one of them names, over the
// defaults. An error names every setting it refuses and no value.
func Load(flags *pflag.FlagSet, environ []string) (Settings, error) {
	above := koanf.New(delimiter)
	if err := errors.Join(loadEnv(above, environ), loadFlags(above, flags)); err != nil {
		return Settings{}, err
	}
	k := koanf.New(delimiter)
	if path := above.String("config"); path != "" {
		if err := loadFile(k, path); err != nil {
			return Settings{}, err
		}
	}
	if err := k.Merge(above); err != nil {
		return Settings{}, err
	}
	s, err := decode(k.Raw())
	if err != nil {
		return Settings{}, err
	}
	return s, s.validate()
}

// loadFile merges what a YAML file sets.
func loadFile(k *koanf.Koanf, path string) error {
	values := koanf.New(delimiter)
	if err := values.Load(file.Provider(path), yaml.Parser()); err != nil {
		// A parser quotes what it stumbles over, which may be a secret.
		if err := readable(path); err != nil {
			return fmt.Errorf("%w: config: %w", ErrSetting, err)
		}
		return refuse("config", "%s is not YAML of settings", path)
	}
	names, problems := known(), []error(nil)
	for _, key := range slices.Sorted(maps.Keys(values.Raw())) {
		switch {
		case key == "config":
			problems = append(problems, refuse(key, "cannot be set in %s itself", path))
		case !names[key]:
			problems = append(problems, refuse(key, "no such setting, in %s", path))
		}
	}
	if len(problems) > 0 {
		return errors.Join(problems...)
	}
	return k.Merge(values)
}

// loadEnv merges what the environment sets. A variable that is set to nothing
// counts as absent, as compose files leave it.
func loadEnv(k *koanf.Koanf, environ []string) error {
	names, problems := known(), []error(nil)
	provider := env.Provider(delimiter, env.Opt{
		Prefix:      envPrefix,
		EnvironFunc: func() []string { return environ },
		TransformFunc: func(variable, value string) (string, any) {
			if strings.HasPrefix(variable, reservedPrefix) {
				return "", nil
			}
			name := settingOf(variable)
			if !names[name] || variable != variableOf(name) {
				problems = append(problems, refuse(variable, "no such setting, in the environment"))
				return "", nil
			}
			if value == "" {
				return "", nil
			}
			return name, value
		},
	})
	return errors.Join(k.Load(provider, nil), errors.Join(problems...))
}

// variableOf is the environment variable that sets a setting.
func variableOf(name string) string {
	return envPrefix + strings.ToUpper(strings.ReplaceAll(name, "-", "_"))
}

// loadFlags merges the settings whose flags were set; flags of a command's own
// are none of ours.
func loadFlags(k *koanf.Koanf, flags *pflag.FlagSet) error {
	names := known()
	return k.Load(posflag.ProviderWithFlag(flags, delimiter, k, func(f *pflag.Flag) (string, any) {
		if !f.Changed || !names[f.Name] {
			return "", nil
		}
		if list, ok := f.Value.(pflag.SliceValue); ok {
			return f.Name, list.GetSlice()
		}
		return f.Name, f.Value.String()
	}), nil)
}

// decode sets each value on the field of its setting. It is parsed as its flag
// would be, so that all three sources understand the same texts.
func decode(values map[string]any) (Settings, error) {
	s := Defaults()
	flags := pflag.NewFlagSet("settings", pflag.ContinueOnError)
	bind(flags, &s)
	var problems []error
	for _, name := range slices.Sorted(maps.Keys(values)) {
		if err := set(flags.Lookup(name), values[name]); err != nil {
			problems = append(problems, err)
		}
	}
	return s, errors.Join(problems...)
}

// set gives f a value as koanf holds it: a scalar, a list of scalars, or nil for a
// key without a value. The error of the parser is not passed on: it holds the value.
func set(f *pflag.Flag, value any) error {
	list, isList := f.Value.(pflag.SliceValue)
	switch v := value.(type) {
	case nil:
		return nil
	case map[string]any:
		return refuse(f.Name, "must be one value, not a mapping")
	case []any:
		if !isList {
			return refuse(f.Name, "must be one value, not a list")
		}
		items := make([]string, len(v))
		for i, item := range v {
			items[i] = fmt.Sprint(item)
		}
		return list.Replace(items)
	case []string:
		return list.Replace(v)
	default:
		if f.Value.Set(fmt.Sprint(v)) != nil {
			return refuse(f.Name, "must be a %s", f.Value.Type())
		}
		return nil
	}
}

// refuse is an error about the setting, or the variable, called name.
func refuse(name, format string, args ...any) error {
	return fmt.Errorf("%w: %s: %s", ErrSetting, name, fmt.Sprintf(format, args...))
}
