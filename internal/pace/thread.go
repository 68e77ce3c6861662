package pace

import "runtime"

// Threads is how many goroutines of a server call OwnThread. It needs so many more of Go's processors than the machine has: such a
// goroutine keeps its own while the operating system lets others run, and those must not wait for it.
const Threads = 2

// OwnThread has the goroutine run on a thread of its own, from which the operating system takes the processor the moment another thread
// of ours wants it. Go's scheduler knows no priorities: for it who answers a client waits until background work rests or was
// interrupted, 10 ms later. The thread ends with the goroutine. Where threads have no priorities, the goroutine just has a thread.
func OwnThread() {
	runtime.LockOSThread()
	lowerPriority()
}
