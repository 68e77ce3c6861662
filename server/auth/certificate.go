package auth

import "crypto/tls"

// CertificateName is the user that a client's certificate names: the common name of its
// subject. It is "" without a certificate that the server verified, and where the name is
// none that a user can have.
func CertificateName(state *tls.ConnectionState) string {
	if state == nil || len(state.VerifiedChains) == 0 || len(state.VerifiedChains[0]) == 0 {
		return ""
	}
	name := state.VerifiedChains[0][0].Subject.CommonName
	if checkName(name) != nil {
		return ""
	}
	return name
}
