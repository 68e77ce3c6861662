package api

// Nullable is null for the empty string.
func Nullable(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

// Deref is the empty string for null.
func Deref(p *string) string {
	if p == nil {
		return ""
	}
	return *p
}
