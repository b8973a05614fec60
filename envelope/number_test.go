package envelope

import (
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestNumber(t *testing.T) {
	valid := map[string]float64{
		`3`: 3, `2.5`: 2.5, `-0`: 0, `0`: 0, `1e3`: 1000, `1E-3`: 0.001, `1.0`: 1, `"3"`: 3, `" 2.5 "`: 2.5,
		`"\t7\n"`: 7, `"1e3"`: 1000, `"1E3"`: 1000, `"+5"`: 5, `"-2"`: -2, `".5"`: 0.5, `"5."`: 5, `"007"`: 7, `"\u0033"`: 3,
		`123456789012345`: 123456789012345, `1234567890123456`: 1234567890123456, `1e-400`: 0, `5e-324`: 5e-324,
		`1.7976931348623157e308`: math.MaxFloat64, `"\u00a07"`: 7,
	}
	for raw, want := range valid {
		got, ok := number([]byte(raw))
		assert.True(t, ok, raw)
		assert.Equal(t, want, got+0, raw)
	}
	for _, raw := range []string{
		`""`, `" "`, `"abc"`, `"0x10"`, `"0b1"`, `"0o7"`, `true`, `false`, `[]`, `[1]`, `{}`, `null`, `"NaN"`, `"nan"`,
		`"Infinity"`, `"-Infinity"`, `"inf"`, `"+Inf"`, `1e999`, `-1e999`, `"1e999"`, `"1_000"`, `"1,5"`, `"1 2"`, `"--1"`,
		`"+-1"`, `"1e"`, `"e5"`, `"."`, `"+"`, `"1e+"`, `"1.2.3"`, `"5s"`, `"null"`, `"true"`, `"٣"`, `"\uff13"`, `"0x1p4"`,
		`"5\u0000"`, `"\ud800"`,
	} {
		_, ok := number([]byte(raw))
		assert.False(t, ok, raw)
	}
}

func TestInteger(t *testing.T) {
	valid := map[string]int64{
		`3`: 3, `"3"`: 3, `3.0`: 3, `"3.0"`: 3, `1e3`: 1000, `-5`: -5, `-0`: 0, `9007199254740991`: 1<<53 - 1,
		`9007199254740993`: 1<<53 + 1, `" 9007199254740993 "`: 1<<53 + 1, `9223372036854775806`: math.MaxInt64 - 1,
		`9223372036854775807`: math.MaxInt64, `9223372036854775808`: math.MaxInt64, `1e300`: math.MaxInt64,
		`-1e300`: math.MinInt64, `1e18`: 1_000_000_000_000_000_000,
	}
	for raw, want := range valid {
		got, ok := integer([]byte(raw))
		assert.True(t, ok, raw)
		assert.Equal(t, want, got, raw)
	}
	for _, raw := range []string{`1.5`, `"1.5"`, `0.1`, `1e-3`, `""`, `"x"`, `true`, `null`, `[]`, `1e999`} {
		_, ok := integer([]byte(raw))
		assert.False(t, ok, raw)
	}
}

// Numbers are written as JavaScript writes them.
func TestAppendNumber(t *testing.T) {
	tests := map[float64]string{
		2: "2", 0.5: "0.5", 0: "0", math.Copysign(0, -1): "0", 1e6: "1000000", 1e20: "100000000000000000000",
		1e21: "1e+21", 0.000001: "0.000001", 0.30000000000000004: "0.30000000000000004", 1.25: "1.25", 100: "100",
		123456789.125: "123456789.125", 1e-7: "1e-07", math.MaxFloat64: "1.7976931348623157e+308",
	}
	for f, want := range tests {
		assert.Equal(t, want, string(appendNumber(nil, f)), fmt.Sprint(f))
		back, ok := number([]byte(want))
		assert.True(t, ok)
		assert.Equal(t, f+0, back, "it reads back as what it was")
	}
}
