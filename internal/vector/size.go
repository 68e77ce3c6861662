package vector

import "unsafe"

// SizeBytes is the memory that v's buffers take, its dictionary included.
func (v *Vector) SizeBytes() int64 {
	n := len(v.Valid)*8 + len(v.Int8) + len(v.Int16)*2 + len(v.Int32)*4 + len(v.Int64)*8 +
		len(v.Uint64)*8 + len(v.Float64)*8 + len(v.Dec128)*16 + len(v.Dec256)*32 +
		len(v.Code8) + len(v.Code16)*2 + len(v.Code32)*4 + len(v.Offsets)*4 + len(v.Bytes)
	if v.Dict != nil {
		n += len(v.Dict.Offsets)*4 + len(v.Dict.Bytes) + int(unsafe.Sizeof(*v.Dict))
	}
	return int64(n) + int64(unsafe.Sizeof(*v))
}
