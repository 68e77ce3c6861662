package columns

import (
	"millrace/catalog"
	"millrace/store/state"
)

// Report says how much of a partition's columns is in files.
type Report struct {
	Blocks, InFiles, Outdated       int   // of blocks; outdated ones lack, in their files, columns or types that the table has today
	Rows, RowsInFiles, RowsOutdated int64 // of decided records; outdated ones are not counted as in files
}

// Report of a partition with bounds b; false before its columns were asked for or sealed. It waits for nobody: it
// tells of the blocks as they are known.
func (s *Set) Report(t *catalog.Table, partition int32, b state.Bounds) (Report, bool) {
	p, ok := s.known(state.TopicPartition{Topic: t.Topic.ID, Partition: partition})
	if !ok {
		return Report{}, false
	}
	cols, _ := fileColumns(t)
	var r Report
	st := p.state.Load()
	for _, x := range st.list {
		if x.end <= b.LogStart || x.maxRows == 0 || x.from >= b.LastStable {
			continue
		}
		r.Blocks++
		r.Rows += int64(x.maxRows)
		switch f := x.file.Load(); {
		case f == nil:
		case lacks(f, t, cols):
			r.Outdated++
			r.RowsOutdated += int64(x.maxRows)
		default:
			r.InFiles++
			r.RowsInFiles += int64(x.maxRows)
		}
	}
	if rest := b.LastStable - max(st.end, b.LogStart); rest > 0 { // nobody has asked for these yet
		r.Rows += rest
		r.Blocks += int((rest + int64(s.o.BlockRows) - 1) / int64(s.o.BlockRows))
	}
	return r, true
}

// InFiles says how many records of a partition are in files of columns, whatever their types; false before its columns were
// asked for or sealed.
func (s *Set) InFiles(tp state.TopicPartition, b state.Bounds) (rows int64, known bool) {
	p, ok := s.known(tp)
	if !ok {
		return 0, false
	}
	for _, x := range p.state.Load().list {
		if x.end > b.LogStart && x.file.Load() != nil {
			rows += int64(x.maxRows)
		}
	}
	return rows, true
}

func (s *Set) known(tp state.TopicPartition) (*part, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	p := s.parts[tp]
	return p, p != nil
}
