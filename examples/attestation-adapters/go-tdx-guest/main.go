// Command adapter answers the attestation vectors' protocol with go-tdx-guest: docs/attestation-vectors.md describes it.
package main

import (
	"bufio"
	"crypto/x509"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/google/go-tdx-guest/validate"
	"github.com/google/go-tdx-guest/verify"
	"github.com/google/logger"
)

type request struct {
	Command, ID, Quote, Collateral, Root string
	At                                   int64
	Policy                               struct {
		Boot struct{ Measurements []measurements }
	}
}

// measurements are the registers of one boot that is accepted.
type measurements struct{ Mrtd, Rtmr0, Rtmr1, Rtmr2 string }

// check compares the registers of a quote with them. The library leaves RTMR3, which is empty here, unchecked.
func (m *measurements) check(quote []byte) error {
	registers := make([][]byte, 4)
	for index, text := range []string{m.Mrtd, m.Rtmr0, m.Rtmr1, m.Rtmr2} {
		value, err := hex.DecodeString(strings.TrimPrefix(text, "0x"))
		if err != nil {
			return err
		}
		registers[index] = value
	}
	return validate.RawTdxQuote(quote, &validate.Options{
		TdQuoteBodyOptions: validate.TdQuoteBodyOptions{MrTd: registers[0], Rtmrs: append(registers[1:], nil)},
	})
}

// boots accepts a quote that any of the accepted boots describes, or whatever booted if there are none.
func boots(quote []byte, accepted []measurements) error {
	var refusal error
	for _, one := range accepted {
		if refusal = one.check(quote); refusal == nil {
			return nil
		}
	}
	return refusal
}

// collateral answers the library's requests as Intel's service would.
type collateral struct {
	PckCrlIssuerChain     string `json:"pck_crl_issuer_chain"`
	RootCaCrl             string `json:"root_ca_crl"`
	PckCrl                string `json:"pck_crl"`
	TcbInfoIssuerChain    string `json:"tcb_info_issuer_chain"`
	TcbInfo               string `json:"tcb_info"`
	TcbInfoSignature      string `json:"tcb_info_signature"`
	QeIdentityIssuerChain string `json:"qe_identity_issuer_chain"`
	QeIdentity            string `json:"qe_identity"`
	QeIdentitySignature   string `json:"qe_identity_signature"`
}

func (c *collateral) Get(address string) (map[string][]string, []byte, error) {
	switch {
	case strings.Contains(address, "/pckcrl"):
		crl, err := hex.DecodeString(c.PckCrl)
		return chain("Sgx-Pck-Crl-Issuer-Chain", c.PckCrlIssuerChain), crl, err
	case strings.Contains(address, "/tcb"):
		body := fmt.Sprintf(`{"tcbInfo":%s,"signature":"%s"}`, c.TcbInfo, c.TcbInfoSignature)
		return chain("Tcb-Info-Issuer-Chain", c.TcbInfoIssuerChain), []byte(body), nil
	case strings.Contains(address, "/qe/identity"):
		body := fmt.Sprintf(`{"enclaveIdentity":%s,"signature":"%s"}`, c.QeIdentity, c.QeIdentitySignature)
		return chain("Sgx-Enclave-Identity-Issuer-Chain", c.QeIdentityIssuerChain), []byte(body), nil
	default: // the root certificate's distribution point
		crl, err := hex.DecodeString(c.RootCaCrl)
		return nil, crl, err
	}
}

func chain(header, pem string) map[string][]string {
	return map[string][]string{header: {url.QueryEscape(pem)}}
}

func verdict(asked *request) (string, string) {
	quote, err := hex.DecodeString(asked.Quote)
	if err != nil {
		return "refused", err.Error()
	}
	if len(quote) > 2 && binary.LittleEndian.Uint16(quote) == 5 {
		return "unsupported", "version 5"
	}
	getter, roots := &collateral{}, x509.NewCertPool()
	if err := json.Unmarshal([]byte(asked.Collateral), getter); err != nil {
		return "refused", err.Error()
	}
	roots.AppendCertsFromPEM([]byte(asked.Root))
	options := &verify.Options{
		CheckRevocations: true, GetCollateral: true, Getter: getter, TrustedRoots: roots, Now: time.Unix(asked.At, 0),
	}
	if err := verify.RawTdxQuote(quote, options); err != nil {
		return "refused", err.Error()
	}
	if err := boots(quote, asked.Policy.Boot.Measurements); err != nil {
		return "refused", err.Error()
	}
	return "accepted", ""
}

func main() {
	logger.Init("adapter", false, false, io.Discard) // the library logs to the standard output otherwise
	lines, answers := bufio.NewReader(os.Stdin), json.NewEncoder(os.Stdout)
	for {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			return
		}
		asked := &request{}
		if err := json.Unmarshal(line, asked); err != nil {
			panic(err)
		}
		if asked.Command == "start" {
			answers.Encode(map[string]any{
				"protocol": 1, "implementation": "go-tdx-guest v0.3.1", "kinds": []string{"quote"}, "policies": []string{"boot"},
			})
			continue
		}
		result, detail := verdict(asked)
		answers.Encode(map[string]string{"id": asked.ID, "result": result, "detail": detail})
	}
}
