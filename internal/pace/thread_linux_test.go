package pace

import (
	"runtime"
	"testing"

	"golang.org/x/sys/unix"
)

func TestAnOwnThreadHasALowerPriorityAndOthersKeepTheirs(t *testing.T) {
	niceness := func() int {
		n, err := unix.Getpriority(unix.PRIO_PROCESS, 0) // of the calling thread; as the kernel counts, 20 − nice
		if err != nil {
			t.Error(err)
		}
		return 20 - n
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	before := niceness()
	background := make(chan int)
	go func() {
		OwnThread()
		background <- niceness()
	}()
	if n := <-background; n != min(19, before+nice) {
		t.Errorf("nice is %d on the own thread", n)
	}
	if n := niceness(); n != before {
		t.Errorf("nice went from %d to %d on another", before, n)
	}
}
