package envelope

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func scan(raw []byte) error {
	s := new(scanner)
	i, err := s.start(raw)
	if err == nil {
		if i, err = s.value(i, nil); err == nil {
			err = s.end(i)
		}
	}
	return err
}

// accepted is a second opinion about what one unambiguous JSON value is:
// jsontext's, which lets invalid UTF-8 pass when lone surrogates shall.
func accepted(raw []byte) bool {
	if !utf8.Valid(raw) {
		return false
	}
	dec := jsontext.NewDecoder(bytes.NewReader(raw), jsontext.AllowInvalidUTF8(true))
	deepest := 0
	for {
		if _, err := dec.ReadToken(); err != nil {
			return false
		}
		if deepest = max(deepest, dec.StackDepth()); dec.StackDepth() == 0 {
			break
		}
	}
	_, err := dec.ReadToken()
	return errors.Is(err, io.EOF) && deepest <= MaxDepth
}

// FuzzScan holds the scanner against jsontext.
func FuzzScan(f *testing.F) {
	for _, seed := range itemSeeds {
		f.Add([]byte(seed))
	}
	for _, seed := range []string{`-0`, `-`, `01`, `1.`, `1.e1`, `1e`, `1E+`, `-0.5e-07`, `tru`, `nul`, `falsey`, `[1,]`, `[,1]`, `{"a":1,}`, `{,}`,
		`"\u12"`, `"\ud83d\ude00"`, `"\ude00"`, `"1234567\"8"`, "\"1234567\x1f\"", "\"1234567é\"", "\"\xe2\x82\"", `"\x"`, `"`, `"\`, ` [ 1 , { "a" : 2 } ] `,
		`{"\ud83d":1,"\ude00":2}`, `{"\ud83d\ude00":1,"😀":2}`, `{"` + strings.Repeat("a", 20) + `":1,"` + strings.Repeat("a", 20) + `":1}`, objectOf(100, "k%d") + "{}"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		err := scan(raw)
		var malformed *MalformedError
		if err != nil && (!errors.As(err, &malformed) || malformed.Offset > int64(len(raw))) {
			t.Fatalf("an error of no known type or place: %v", err)
		}
		if accepted(raw) != (err == nil) {
			t.Fatalf("%q: %v", raw, err)
		}
	})
}

// FuzzText holds what a string says against jsontext.
func FuzzText(f *testing.F) {
	for _, seed := range []string{`a`, `\n\t\b\f\r\/\\\"`, `\u00e9`, `\ud83d\ude00`, `\ud83d`, `\ude00\ud83d`, `\ud83d\ud83d\ude00`, `\ud83dx`, `x\u0000y`, `\ud83d\n`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, inner []byte) {
		raw := []byte(`"` + string(inner) + `"`)
		if scan(raw) != nil {
			return
		}
		want, _ := jsontext.AppendUnquote(nil, raw)
		if got := text(raw); !bytes.Equal(got, want) {
			t.Fatalf("%s reads %q, not %q", raw, got, want)
		}
	})
}

// objectOf is an object of n members, named by the format.
func objectOf(n int, format string) string {
	var out strings.Builder
	for i := range n {
		fmt.Fprintf(&out, `,"`+format+`":%d`, i, i)
	}
	return "{" + strings.TrimPrefix(out.String(), ",") + "}"
}

// A name that stands twice is found among few and among many, next to each
// other and far apart, however alike the names are.
func TestNamesThatStandTwice(t *testing.T) {
	formats := map[string]string{
		"short": "%d", "long": "a name of some length, number %d", "escaped": `\u0061%d`, "alike at both ends": "aaaaaaaa%06dbbbbbbbb",
	}
	for name, format := range formats {
		for _, n := range []int{1, 2, fewNames - 1, fewNames, fewNames + 1, fewNames + 2, 100, 5000} {
			for _, twice := range []int{0, n / 2, n - 1} {
				t.Run(fmt.Sprintf("%s, %d of %d", name, twice, n), func(t *testing.T) {
					object := objectOf(n, format)
					require.NoError(t, scan([]byte(object)))
					second := fmt.Sprintf(`"`+format+`"`, twice)
					ambiguous := []byte(strings.TrimSuffix(object, "}") + "," + second + ":0}")
					for _, raw := range [][]byte{ambiguous, []byte(`{"outer":[` + string(ambiguous) + `]}`)} {
						var malformed *MalformedError
						require.ErrorAs(t, scan(raw), &malformed)
						assert.Contains(t, malformed.Problem, "twice")
						assert.True(t, bytes.HasPrefix(raw[malformed.Offset:], []byte(second)), "byte %d is not where it stands", malformed.Offset)
						assert.Greater(t, malformed.Offset, int64(bytes.Index(raw, []byte(second))), "the second one is told")
					}
					// After an object of many names the next one begins anew.
					require.NoError(t, scan([]byte("["+object+","+object+",{\"o\":"+object+"}]")))
				})
			}
		}
	}
}
