package blobexpand

// Inferred calls fn with the path of every inferred column and the narrowest type of all values seen there,
// whatever is declared for the path. The path is read-only.
func (in *Inference) Inferred(fn func(path []string, t Type)) {
	for _, c := range in.cols {
		fn(c.path, c.facts.typ())
	}
}
