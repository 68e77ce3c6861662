package share

import (
	"errors"
	"testing"

	"millrace/store/state"

	"github.com/google/uuid"
)

func TestASessionHasABoundForItsPartitionsHoweverManyRequestsNameThem(t *testing.T) {
	bubble(t, 1, Options{}, func(h *harness) {
		s := h.session("a")
		parts := func(from, n int32) []state.TopicPartition {
			list := make([]state.TopicPartition, n)
			for i := range list {
				list[i] = state.TopicPartition{Topic: uuid.UUID{1}, Partition: from + int32(i)}
			}
			return list
		}
		if _, err := h.c.Open("g", "b", parts(0, maxSessionPartitions+1)); !errors.Is(err, ErrSessionLimit) {
			t.Fatal(err)
		}
		if err := s.Update(parts(0, maxSessionPartitions-1), nil); err != nil {
			t.Fatal(err)
		}
		if err := s.Update(parts(0, 10), nil); err != nil { // it has them
			t.Fatal(err)
		}
		if err := s.Update(parts(maxSessionPartitions, 1), nil); !errors.Is(err, ErrSessionLimit) {
			t.Fatal(err)
		}
		if err := s.Update(nil, parts(0, 1)); err != nil {
			t.Fatal(err)
		}
		if err := s.Update(parts(maxSessionPartitions, 1), nil); err != nil {
			t.Fatal(err)
		}
	})
}
