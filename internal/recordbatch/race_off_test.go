//go:build !race

package recordbatch

const raceDetector = false
