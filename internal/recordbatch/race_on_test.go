//go:build race

package recordbatch

const raceDetector = true
