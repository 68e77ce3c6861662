package vfs

// fetcher is a file that can be told that a range of it will be read soon.
type fetcher interface {
	// willNeed begins to read [off, off+n) and does not wait for it.
	willNeed(off, n int64)
}

// fetchStep is how much is asked for at a time: systems cut larger wishes.
const fetchStep = 512 << 10

// WillNeed has the system begin to read [off, off+n) of f, if it can: ReadAt finds it in memory then, or on its way.
func WillNeed(f File, off, n int64) {
	p, ok := f.(fetcher)
	if !ok {
		return
	}
	for ; n > 0; off, n = off+fetchStep, n-fetchStep {
		p.willNeed(off, min(n, fetchStep))
	}
}
