package scan

// nullKernel is IS NULL.
func nullKernel(v *vector, out []Tri) {
	fill(out, False)
	if v.nulls == nil {
		return
	}
	for i := range out {
		out[i] = tri(v.nulls.IsNull(i))
	}
}
