package config

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/alecthomas/kong"
	"github.com/goccy/go-yaml"
)

// Resolver reads the file that the --config flag of the parsed command names and
// gives its values to flags that were set neither on the command line nor in the
// environment. A key that is no flag of the command is an error.
func Resolver() kong.Resolver { return &resolver{} }

type resolver struct {
	command *kong.Node // whose file was read
	values  map[string]any
}

func (*resolver) Validate(*kong.Application) error { return nil }

func (r *resolver) Resolve(c *kong.Context, parent *kong.Path, flag *kong.Flag) (any, error) {
	if parent.Command == nil {
		return nil, nil
	}
	if r.command != parent.Command {
		if err := r.load(c, parent.Command); err != nil {
			return nil, err
		}
	}
	for _, env := range flag.Envs {
		if _, set := os.LookupEnv(env); set {
			return nil, nil
		}
	}
	v, ok := r.values[flag.Name]
	if !ok {
		return nil, nil
	}
	return v, nil
}

func (r *resolver) load(c *kong.Context, command *kong.Node) error {
	r.command, r.values = command, nil
	path := ""
	for _, f := range command.Flags {
		if f.Name == "config" {
			path, _ = c.FlagValue(f).(string)
		}
	}
	if path == "" {
		return nil
	}
	b, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	var known []string
	for _, f := range command.Flags {
		if f.Name != "config" && f.Name != "help" {
			known = append(known, f.Name)
		}
	}
	r.values, err = parseFile(b, known)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}

// parseFile reads YAML into what the flags understand: strings, and lists of strings.
func parseFile(b []byte, known []string) (map[string]any, error) {
	var raw map[string]any
	if err := yaml.Unmarshal(b, &raw); err != nil {
		return nil, err
	}
	values := make(map[string]any, len(raw))
	for key, v := range raw {
		if !slices.Contains(known, key) {
			return nil, fmt.Errorf("unknown key %q (the keys are the flags: %s)", key, strings.Join(known, ", "))
		}
		list, isList := v.([]any)
		if !isList {
			s, err := scalar(key, v)
			if err != nil {
				return nil, err
			}
			values[key] = s
			continue
		}
		texts := make([]any, len(list))
		for i, e := range list {
			s, err := scalar(key, e)
			if err != nil {
				return nil, err
			}
			texts[i] = s
		}
		values[key] = texts
	}
	return values, nil
}

// scalar spells v as it would be on the command line.
func scalar(key string, v any) (string, error) {
	switch v := v.(type) {
	case nil:
		return "", nil
	case string:
		return v, nil
	case bool:
		return strconv.FormatBool(v), nil
	case int, int64, uint64:
		return fmt.Sprint(v), nil
	case map[string]any:
		if key == "kafka" {
			return listenerMap(v)
		}
	}
	return "", fmt.Errorf("key %q: %v is neither text, number, true nor false", key, v)
}

// listenerMap spells {address, advertised, name, tls, sasl} as a listener.
func listenerMap(m map[string]any) (string, error) {
	var l Listener
	for key, v := range m {
		ok := true
		switch key {
		case "address":
			l.Address, ok = v.(string)
		case "advertised":
			l.Advertised, ok = v.(string)
		case "name":
			l.Name, ok = v.(string)
		case "tls":
			l.TLS, ok = v.(bool)
		case "sasl":
			l.SASL, ok = v.(bool)
		default:
			return "", fmt.Errorf("kafka listener: unknown key %q (there are address, advertised, name, tls, sasl)", key)
		}
		if !ok {
			return "", fmt.Errorf("kafka listener: %s: %v has the wrong type", key, v)
		}
	}
	return l.String(), nil
}
