package envelope

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func nested(open, value, closing string, levels int) string {
	return strings.Repeat(open, levels) + value + strings.Repeat(closing, levels)
}

// What is not one unambiguous JSON object (malformed_json).
func TestMalformed(t *testing.T) {
	tests := map[string]string{
		"nothing":                          ``,
		"blanks":                           " \n",
		"no JSON":                          `hello`,
		"an array":                         `[]`,
		"an array of an item":              "[" + item() + "]",
		"a string":                         `"x"`,
		"a number":                         `5`,
		"null":                             `null`,
		"cut off":                          item()[:40],
		"the last brace missing":           strings.TrimSuffix(item(), "}"),
		"something after the value":        item() + "x",
		"a second value":                   item() + item(),
		"a comma after the value":          item() + ",",
		"a byte order mark":                "\ufeff" + item(),
		"a trailing comma":                 strings.TrimSuffix(item(), "}") + ",}",
		"single quotes":                    `{'statusCode':429}`,
		"a bare key":                       `{statusCode:429}`,
		"a comment":                        `{/* x */"statusCode":429}`,
		"NaN":                              item(`"n":NaN`),
		"Infinity":                         item(`"n":Infinity`),
		"a leading zero":                   item(`"n":012`),
		"a plus sign":                      item(`"n":+1`),
		"a bare point":                     item(`"n":1.`),
		"a hex number":                     item(`"n":0x10`),
		"a raw newline in a string":        item("\"s\":\"a\nb\""),
		"a raw NUL in a string":            item("\"s\":\"\x00\""),
		"an unknown escape":                item(`"s":"\x41"`),
		"half a unicode escape":            item(`"s":"\u00"`),
		"a wrong literal":                  item(`"b":True`),
		"a key that is no string":          item(`5:1`),
		"a bracket that does not match":    item(`"o":{]`),
		"invalid UTF-8 in a value":         item("\"s\":\"\xff\""),
		"invalid UTF-8 in a key":           item("\"\xc3\":1"),
		"a surrogate in UTF-8":             item("\"s\":\"\xed\xa0\x80\""),
		"an overlong form":                 item("\"s\":\"\xc0\xaf\""),
		"invalid UTF-8 outside strings":    item() + "\xff",
		"Latin-1":                          item("\"s\":\"caf\xe9\""),
		"a key twice":                      item(`"a":1,"a":1`),
		"a contract key twice":             item(`"attempts":1,"attempts":2`),
		"a key twice, once escaped":        item(`"attempts":1,"\u0061ttempts":2`),
		"a key twice, in other escapes":    item(`"é":1,"\u00E9":2`),
		"an emoji key twice, once escaped": item(`"😀":1,"\ud83d\ude00":2`),
		"an empty key twice":               item(`"":1,"":2`),
		"a key twice in the headers":       item(`"headers":{"a":"1","a":"1"}`),
		"a key twice in the policy":        item(`"policy":{"max_wait":1,"max_wait":2}`),
		"a key twice in the error":         failedItem(`{"code":"x","code":"y"}`),
		"a key twice in what is consumed":  item(`"data":{"a":1,"a":1}`),
		"a key twice deep down":            item(`"o":[[{"p":[{"a":1,"b":{"c":1,"c":1}}]}]]`),
		"a key twice in an array's object": item(`"o":[{"a":1},{"a":1,"a":2}]`),
		"1001 levels":                      item(`"o":` + nested("[", "1", "]", 1000)),
		"1001 levels of objects":           item(`"o":` + nested(`{"a":`, "1", "}", 1000)),
		"a million brackets":               item(`"o":` + strings.Repeat("[", 1_000_000)),
	}
	for name, raw := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := Decode([]byte(raw), testNow)
			var malformed *MalformedError
			require.ErrorAs(t, err, &malformed)
			assert.NotEmpty(t, malformed.Error())
		})
	}
}

// What looks odd and is one JSON object.
func TestWellFormed(t *testing.T) {
	tests := map[string]string{
		"1000 levels":                  item(`"o":` + nested("[", "1", "]", 999)),
		"1000 levels beside others":    item(`"p":[[],[]],"o":` + nested("[", "1", "]", 999)),
		"1000 levels of objects":       item(`"o":` + nested(`{"a":`, "1", "}", 999)),
		"many brackets side by side":   item(`"o":[` + strings.Repeat("[],", 5000) + `[]]`),
		"brackets in strings":          item(`"o":"` + strings.Repeat("[{", 5000) + `"`),
		"quotes and brackets":          item(`"o":["\"","\\","\\\"[",` + strings.Repeat(`"[\\\\",`, 2000) + `1]`),
		"the same key in two objects":  item(`"o":{"a":1},"p":{"a":1},"a":1`),
		"keys that differ in case":     item(`"a":1,"A":2`),
		"NFC and NFD are two keys":     item(`"é":1,"` + "e\u0301" + `":2`),
		"a lone surrogate":             item(`"s":"\ud83d"`),
		"blanks round it":              "\t\r\n " + item() + " \n",
		"a million digits":             item(`"n":` + strings.Repeat("9", 1_000_000)),
		"a key of a hundred kilobytes": item(`"` + strings.Repeat("k", 100_000) + `":1`),
	}
	for name, raw := range tests {
		t.Run(name, func(t *testing.T) { assert.Equal(t, "1", verdict(t, raw)) })
	}
}

// The problem says what to change.
func TestMalformedSaysWhy(t *testing.T) {
	tests := map[string]string{
		``: "empty", `[]`: "not a JSON object", `{"a":1,"a":2}`: "twice", `{"a":`: "ends too early", `{}x`: "follows",
		`{"a":` + nested("[", "", "]", 1000) + `}`: "1000 levels", "{\"a\":\"\xff\"}": "UTF-8", `{"a":tru}`: "not valid JSON",
	}
	for raw, want := range tests {
		_, err := Decode([]byte(raw), testNow)
		assert.ErrorContains(t, err, want)
	}
}
