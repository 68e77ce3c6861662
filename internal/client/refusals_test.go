package client

import (
	"bytes"
	"context"
	"errors"
	"net"
	"testing"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// written and read in pieces.
type pieces struct {
	net.Conn
	in *bytes.Reader
}

func (p pieces) Write(b []byte) (int, error) { return len(b), nil }
func (p pieces) Read(b []byte) (int, error)  { return p.in.Read(b) }

func TestRefusalsAreHeardHoweverTheStreamIsCut(t *testing.T) {
	frame := func(b []byte) []byte { return append([]byte{0, 0, byte(len(b) >> 8), byte(len(b))}, b...) }
	for _, version := range []int16{8, 9, 13} {
		resp := kmsg.NewPtrProduceResponse()
		resp.Version = version
		part := kmsg.NewProduceResponseTopicPartition()
		part.Partition, part.ErrorCode, part.ErrorMessage = 3, kerr.InvalidRecord.Code, kmsg.StringPtr("two are bad.")
		bad := kmsg.NewProduceResponseTopicPartitionErrorRecord()
		bad.RelativeOffset, bad.ErrorMessage = 1, kmsg.StringPtr("this one")
		part.ErrorRecords = append(part.ErrorRecords, bad)
		topic := kmsg.NewProduceResponseTopic()
		topic.Partitions = append(topic.Partitions, part)
		resp.Topics = append(resp.Topics, topic)
		header := []byte{0, 0, 0, 7}
		if resp.IsFlexible() {
			header = append(header, 0)
		}
		// An answer to something else comes first, and a frame without anything in it.
		answers := bytes.Join([][]byte{frame([]byte{0, 0, 0, 6, 1, 2, 3}), frame(nil), frame(resp.AppendTo(header))}, nil)
		requests := bytes.Join([][]byte{
			frame([]byte{0, 18, 0, 4, 0, 0, 0, 6, 'm', 'o', 'r', 'e'}), frame([]byte{0, 0, 0, byte(version), 0, 0, 0, 7, 'm', 'o', 'r', 'e'}),
		}, nil)
		for size := 1; size < 20; size++ {
			r := &refusals{}
			conn, err := r.dial(func(context.Context, string, string) (net.Conn, error) {
				return pieces{in: bytes.NewReader(answers)}, nil
			})(t.Context(), "", "")
			if err != nil {
				t.Fatal(err)
			}
			for i := 0; i < len(requests); i += size {
				if _, err := conn.Write(requests[i:min(i+size, len(requests))]); err != nil {
					t.Fatal(err)
				}
			}
			for buf := make([]byte, size); ; {
				if _, err := conn.Read(buf); err != nil {
					break
				}
			}
			for n, want := range []string{"two are bad (INVALID_RECORD)", "this one (INVALID_RECORD)"} {
				got, named := r.of(kerr.InvalidRecord, 3, int32(n))
				if got.Error() != want || named != (n == 1) || !errors.Is(got, kerr.InvalidRecord) {
					t.Fatalf("version %d, pieces of %d: %v %v, want %s", version, size, got, named, want)
				}
			}
			if got, _ := r.of(kerr.InvalidRecord, 4, 0); got.Error() != kerr.InvalidRecord.Error() {
				t.Fatal(got)
			}
		}
	}
}
