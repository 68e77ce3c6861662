package store

// DefaultOptions are what Open takes for zero values.
func DefaultOptions() Options {
	o := Options{}.withDefaults()
	o.FS, o.Now, o.Logger = nil, nil, nil // Open's own
	return o
}
