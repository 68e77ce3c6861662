//go:build !linux

package pace

func lowerPriority() {}
