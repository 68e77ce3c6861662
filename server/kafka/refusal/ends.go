package refusal

import (
	"slices"
)

// Why connections end before anything can be answered.
const (
	EndRefused        = "CONNECTION_REFUSED"
	EndTLSOnPlaintext = "TLS_ON_PLAINTEXT_PORT"
	EndPlaintextOnTLS = "PLAINTEXT_ON_TLS_PORT"
	EndHTTP           = "HTTP_ON_KAFKA_PORT"
	EndTLSFailed      = "TLS_HANDSHAKE_FAILED"
	EndBeforeLogin    = "LOGIN_REQUIRED"
	EndTooLarge       = "REQUEST_TOO_LARGE"
	EndMalformed      = "MALFORMED_REQUEST"
	EndUnservedAPI    = "UNSERVED_API"
)

// StrangeProtocol is what the first bytes of a connection are when they are known not to be Kafka's; else "".
func StrangeProtocol(b []byte) string {
	switch {
	case b[0] == 0x16 && b[1] == 3: // a handshake record of TLS
		return EndTLSOnPlaintext
	case slices.Contains([]string{"GET ", "POST", "HEAD", "PUT ", "PRI ", "OPTI"}, string(b)):
		return EndHTTP
	}
	return ""
}
