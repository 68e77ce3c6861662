package sealer

import "time"

// working is what is being done right now.
type working struct {
	topic string
	since time.Time
}

// Working tells of which topic columns are being written, and since when; false: of none.
func (s *Sealer) Working() (topic string, since time.Time, ok bool) {
	if w := s.working.Load(); w != nil {
		return w.topic, w.since, true
	}
	return "", time.Time{}, false
}
