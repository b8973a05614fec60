package main

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"io"
	"math/big"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// writeCertificate makes a self-signed pair with the number given and writes
// the parts that are asked for.
func writeCertificate(t *testing.T, folder string, number int64, parts ...string) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	about := &x509.Certificate{SerialNumber: big.NewInt(number), Subject: pkix.Name{CommonName: "planner"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), DNSNames: []string{"planner"}}
	cert, err := x509.CreateCertificate(rand.Reader, about, about, key.Public(), key)
	require.NoError(t, err)
	private, err := x509.MarshalECPrivateKey(key)
	require.NoError(t, err)
	files := map[string][]byte{
		"cert": pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: cert}),
		"key":  pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: private}),
	}
	for _, part := range parts {
		path := filepath.Join(folder, part)
		require.NoError(t, os.WriteFile(path, files[part], 0o600))
		// A file system's clock may be too coarse to tell two writes apart.
		changed := time.Now().Add(time.Duration(number) * time.Minute)
		require.NoError(t, os.Chtimes(path, changed, changed))
	}
}

// servedCertificate gives the number of the certificate that a new connection
// meets.
func servedCertificate(t *testing.T, address string) int64 {
	t.Helper()
	c, err := tls.Dial("tcp", address, &tls.Config{InsecureSkipVerify: true})
	require.NoError(t, err)
	defer func() { _ = c.Close() }()
	return c.ConnectionState().PeerCertificates[0].SerialNumber.Int64()
}

func TestTheCertificateIsReadAgainWhenItChanges(t *testing.T) {
	folder := t.TempDir()
	writeCertificate(t, folder, 1, "cert", "key")
	variables := map[string]string{"PLANNER_TLS_CERT": filepath.Join(folder, "cert"), "PLANNER_TLS_KEY": filepath.Join(folder, "key")}
	for name, value := range variables {
		t.Setenv(name, value)
	}
	address := startTLS(t)
	assert.EqualValues(t, 1, servedCertificate(t, address))

	// Half a renewal: certificate and key do not fit, the old pair goes on.
	writeCertificate(t, folder, 2, "cert")
	assert.EqualValues(t, 1, servedCertificate(t, address))

	writeCertificate(t, folder, 3, "cert", "key")
	assert.EqualValues(t, 3, servedCertificate(t, address))

	require.NoError(t, os.Remove(filepath.Join(folder, "key")))
	assert.EqualValues(t, 3, servedCertificate(t, address), "a file that is gone for a moment is no reason to end")
}

// TestTheCertificateIsReadAgainBehindALink renews as Kubernetes does: the files
// are links through a folder's link, and that one is exchanged for another.
func TestTheCertificateIsReadAgainBehindALink(t *testing.T) {
	folder := t.TempDir()
	current := filepath.Join(folder, "..data")
	for number, name := range []string{"first", "second"} {
		require.NoError(t, os.Mkdir(filepath.Join(folder, name), 0o700))
		writeCertificate(t, filepath.Join(folder, name), int64(number+1), "cert", "key")
	}
	require.NoError(t, os.Symlink("first", current))
	for _, name := range []string{"cert", "key"} {
		require.NoError(t, os.Symlink(filepath.Join("..data", name), filepath.Join(folder, name)))
	}
	t.Setenv("PLANNER_TLS_CERT", filepath.Join(folder, "cert"))
	t.Setenv("PLANNER_TLS_KEY", filepath.Join(folder, "key"))
	address := startTLS(t)
	assert.EqualValues(t, 1, servedCertificate(t, address))

	require.NoError(t, os.Symlink("second", current+"_tmp"))
	require.NoError(t, os.Rename(current+"_tmp", current))
	assert.EqualValues(t, 2, servedCertificate(t, address))
}

func TestTLSSettingsComeInPairs(t *testing.T) {
	t.Setenv("PLANNER_TLS_CERT", "/cert.pem")
	err := run(t.Context(), nil, nil, nil, nil)
	require.ErrorContains(t, err, "--tls-key (PLANNER_TLS_KEY) is missing")

	t.Setenv("PLANNER_TLS_KEY", "/key.pem")
	err = run(t.Context(), nil, nil, new(lockedBuffer), new(lockedBuffer))
	require.ErrorContains(t, err, "cannot use --tls-cert (PLANNER_TLS_CERT) and --tls-key (PLANNER_TLS_KEY)")
	assert.Equal(t, exitUsage, exitCode(err, new(lockedBuffer)))
}

// startTLS serves in this process and gives the address once the command's own
// health check is content with it.
func startTLS(t *testing.T) string {
	t.Helper()
	address := "127.0.0.1:" + freePort(t)
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() {
		ended <- run(ctx, []string{"--listen", address, "--drain-delay=0s"}, nil, io.Discard, io.Discard)
	}()
	t.Cleanup(func() {
		stop()
		require.NoError(t, <-ended)
	})
	require.Eventually(t, func() bool {
		return run(t.Context(), []string{"healthcheck", "--listen", address}, nil, io.Discard, io.Discard) == nil
	}, 10*time.Second, 10*time.Millisecond)
	return address
}

// A client that could speak HTTP/2, as browsers and curl can, must not be
// promised it: the binary is built without.
func TestTLSOffersWhatTheBinarySpeaks(t *testing.T) {
	folder := t.TempDir()
	writeCertificate(t, folder, 1, "cert", "key")
	path, err := binary()
	require.NoError(t, err)
	address := "127.0.0.1:" + freePort(t)
	service := exec.Command(path)
	service.Env = append(os.Environ(), "PLANNER_LISTEN="+address,
		"PLANNER_TLS_CERT="+filepath.Join(folder, "cert"), "PLANNER_TLS_KEY="+filepath.Join(folder, "key"))
	require.NoError(t, service.Start())
	t.Cleanup(func() { _ = service.Process.Kill(); _ = service.Wait() })

	client := &http.Client{Transport: &http.Transport{ForceAttemptHTTP2: true, TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}}
	var response *http.Response
	require.Eventually(t, func() bool {
		response, err = client.Get("https://" + address + "/healthz")
		return err == nil
	}, 10*time.Second, 20*time.Millisecond, "the last error: %v", err)
	require.NoError(t, response.Body.Close())
	assert.Equal(t, http.StatusOK, response.StatusCode)
	assert.Equal(t, "http/1.1", response.TLS.NegotiatedProtocol)

	err = run(t.Context(), []string{"healthcheck", "--listen", address}, nil, io.Discard, io.Discard)
	assert.ErrorContains(t, err, "set PLANNER_TLS_CERT", "a check that is told nothing of TLS says so")
}
