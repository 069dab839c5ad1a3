// Command served verifies a TDX quote with go-tdx-guest; the collateral comes from a PCCS over HTTP.
//
// Usage: served QUOTE-FILE ROOT-PEM-FILE PCCS-URL UNIX-SECONDS
package main

import (
	"crypto/x509"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path"
	"strconv"
	"strings"
	"time"

	"github.com/google/go-tdx-guest/verify"
	"github.com/google/logger"
)

// pccs asks a caching service for what the library would ask Intel's service, or a distribution point, for.
type pccs string

func (base pccs) Get(address string) (map[string][]string, []byte, error) {
	asked, err := url.Parse(address)
	if err != nil {
		return nil, nil, err
	}
	target := string(base) + asked.RequestURI()
	if !strings.Contains(asked.Path, "/certification/") {
		target = string(base) + "/" + path.Base(asked.Path)
	}
	answer, err := http.Get(target)
	if err != nil {
		return nil, nil, err
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if err == nil && answer.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s: %s", target, answer.Status)
	}
	return answer.Header, body, err
}

func check(err error) {
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
}

func main() {
	logger.Init("served", false, false, io.Discard)
	quote, err := os.ReadFile(os.Args[1])
	check(err)
	root, err := os.ReadFile(os.Args[2])
	check(err)
	at, err := strconv.ParseInt(os.Args[4], 10, 64)
	check(err)
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(root)
	check(verify.RawTdxQuote(quote, &verify.Options{
		CheckRevocations: true, GetCollateral: true, Getter: pccs(os.Args[3]), TrustedRoots: roots, Now: time.Unix(at, 0),
	}))
	fmt.Println("verified")
}
