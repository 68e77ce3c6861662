package commitlog_test

import (
	"errors"
	"testing"

	"millrace/store/commitlog"
	"millrace/store/commitlog/commitlogtest"
)

type memDisk struct{ log *commitlog.Mem }

func (d *memDisk) Open(*testing.T) commitlog.Log {
	if d.log == nil {
		d.log = commitlog.NewMem()
	} else {
		d.log = d.log.Reopen()
	}
	return d.log
}
func (d *memDisk) Fail(commitlog.Log) { d.log.Fail(commitlog.ErrStorage) }
func (d *memDisk) Heal(commitlog.Log) {}

func TestMemConforms(t *testing.T) {
	commitlogtest.Run(t, func(*testing.T) commitlogtest.Disk { return &memDisk{} })
}

func TestHoldKeepsEntriesFromBecomingDurable(t *testing.T) {
	l := commitlog.NewMem()
	c := commitlogtest.NewCollector()
	l.Hold()
	if err := l.Append(0, commitlog.Entry{Meta: []byte("a")}, c.Done(1)); err != nil {
		t.Fatal(err)
	}
	if l.Last() != 0 || len(c.Results()) != 0 {
		t.Fatal("a held entry became durable")
	}
	crashed := l.Reopen()
	if crashed.Last() != 0 {
		t.Fatal("a held entry survived a crash")
	}
	l.Release()
	if r := c.Wait(1)[0]; r.Err != nil || l.Last() != 1 {
		t.Fatal(r, l.Last())
	}
	if err := errors.Join(l.Close(), crashed.Close()); err != nil {
		t.Fatal(err)
	}
}

func TestAFullLogTakesReservedEntriesOnly(t *testing.T) {
	l := commitlog.NewMem()
	l.Full(true)
	if _, err := commitlogtest.AppendWait(l, 0, commitlog.Entry{}); !errors.Is(err, commitlog.ErrNoSpace) || !errors.Is(err, commitlog.ErrStorage) {
		t.Fatal(err)
	}
	if _, err := commitlogtest.AppendWait(l, 0, commitlog.Entry{Reserved: true}); err != nil {
		t.Fatal(err)
	}
	l.Full(false)
	if _, err := commitlogtest.AppendWait(l, 1, commitlog.Entry{}); err != nil {
		t.Fatal(err)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
}
