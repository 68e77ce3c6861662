// Package wire is the MySQL client/server protocol as bytes: packets, the login
// handshake, column definitions, text and binary rows, statement parameters. It
// knows nothing of SQL. Everything a peer sends is bounded before memory is
// taken for it.
package wire

import "errors"

// Capability flags that this server knows.
type Capability uint32

const (
	LongPassword       Capability = 1 << 0
	FoundRows          Capability = 1 << 1
	LongFlag           Capability = 1 << 2
	ConnectWithDB      Capability = 1 << 3
	IgnoreSpace        Capability = 1 << 8
	Protocol41         Capability = 1 << 9
	Interactive        Capability = 1 << 10
	SSL                Capability = 1 << 11
	Transactions       Capability = 1 << 13
	SecureConnection   Capability = 1 << 15
	MultiStatements    Capability = 1 << 16
	MultiResults       Capability = 1 << 17
	PSMultiResults     Capability = 1 << 18
	PluginAuth         Capability = 1 << 19
	ConnectAttrs       Capability = 1 << 20
	PluginAuthLenEnc   Capability = 1 << 21
	DeprecateEOF       Capability = 1 << 24
	serverCapabilities            = LongPassword | FoundRows | LongFlag | ConnectWithDB | IgnoreSpace |
		Protocol41 | Interactive | Transactions | SecureConnection | MultiStatements |
		MultiResults | PSMultiResults | PluginAuth | ConnectAttrs | PluginAuthLenEnc | DeprecateEOF
)

// Status flags of OK and EOF packets.
type Status uint16

const (
	InTransaction     Status = 1 << 0
	Autocommit        Status = 1 << 1
	MoreResultsExists Status = 1 << 3
	CursorExists      Status = 1 << 6
	LastRowSent       Status = 1 << 7
)

// Command is the first byte of a client's packet.
type Command byte

const (
	ComQuit            Command = 0x01
	ComInitDB          Command = 0x02
	ComQuery           Command = 0x03
	ComFieldList       Command = 0x04
	ComStatistics      Command = 0x09
	ComProcessKill     Command = 0x0c
	ComPing            Command = 0x0e
	ComChangeUser      Command = 0x11
	ComStmtPrepare     Command = 0x16
	ComStmtExecute     Command = 0x17
	ComStmtSendLong    Command = 0x18
	ComStmtClose       Command = 0x19
	ComStmtReset       Command = 0x1a
	ComSetOption       Command = 0x1b
	ComStmtFetch       Command = 0x1c
	ComResetConnection Command = 0x1f
)

// ColumnType is a column's type on the wire.
type ColumnType byte

const (
	TypeDecimal    ColumnType = 0
	TypeTiny       ColumnType = 1
	TypeShort      ColumnType = 2
	TypeLong       ColumnType = 3
	TypeFloat      ColumnType = 4
	TypeDouble     ColumnType = 5
	TypeNull       ColumnType = 6
	TypeTimestamp  ColumnType = 7
	TypeLongLong   ColumnType = 8
	TypeInt24      ColumnType = 9
	TypeDate       ColumnType = 10
	TypeTime       ColumnType = 11
	TypeDateTime   ColumnType = 12
	TypeYear       ColumnType = 13
	TypeVarChar    ColumnType = 15
	TypeBit        ColumnType = 16
	TypeJSON       ColumnType = 245
	TypeNewDecimal ColumnType = 246
	TypeEnum       ColumnType = 247
	TypeSet        ColumnType = 248
	TypeTinyBlob   ColumnType = 249
	TypeMediumBlob ColumnType = 250
	TypeLongBlob   ColumnType = 251
	TypeBlob       ColumnType = 252
	TypeVarString  ColumnType = 253
	TypeString     ColumnType = 254
	TypeGeometry   ColumnType = 255
)

// UnsignedFlag in Column.Flags says how a binary integer is read.
const UnsignedFlag uint16 = 1 << 5

const (
	// MaxLoginPacketBytes bounds what is read before a login: 60 sockets that
	// announce 16 MiB each must not cost 60 × 16 MiB.
	MaxLoginPacketBytes = 64 << 10
	// MaxPacketBytes is max_allowed_packet: the largest packet after login.
	MaxPacketBytes = 16 << 20
	// maxFragment is the largest payload of one packet on the wire.
	maxFragment = 1<<24 - 1
	// readStep is how much is allocated ahead of bytes that really arrived.
	readStep = 64 << 10
	// keepBuffer is the largest read buffer kept between commands.
	keepBuffer = 256 << 10
)

var (
	// ErrPacketTooLarge: the peer announced more than it may send.
	ErrPacketTooLarge = errors.New("packet is larger than max_allowed_packet")
	// ErrMalformed: the peer's bytes are not the protocol.
	ErrMalformed = errors.New("malformed packet")
	// ErrSequence: packets out of order.
	ErrSequence = errors.New("packets out of order")
)
