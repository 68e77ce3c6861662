package scan

// SQL's three-valued logic as tables, indexed by Tri.
var (
	andTable = [3][3]Tri{
		False: {False, False, False},
		True:  {False, True, Null},
		Null:  {False, Null, Null},
	}
	orTable = [3][3]Tri{
		False: {False, True, Null},
		True:  {True, True, True},
		Null:  {Null, True, Null},
	}
	notTable = [3]Tri{False: True, True: False, Null: Null}
)

func fill(out []Tri, t Tri) {
	for i := range out {
		out[i] = t
	}
}

// tri compiles to a flag move, without a branch.
func tri(b bool) Tri {
	if b {
		return True
	}
	return False
}

// maskNulls sets NULL where the vector is null.
func maskNulls(v *vector, out []Tri) {
	if v.nulls == nil {
		return
	}
	for i := range out {
		if v.nulls.IsNull(i) {
			out[i] = Null
		}
	}
}
