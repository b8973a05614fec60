package envelope

import "bytes"

// eachMember calls f with every member of an object that the scanner has read:
// the text is known to be sound, so finding where each value ends is all that
// is left to do. The name comes as it was written, quotes included.
func eachMember(object []byte, f func(rawName, value []byte)) {
	for i := skipBlanks(object, 1); object[i] != '}'; {
		nameEnd := stringEnd(object, i) + 1
		rawName := object[i:nameEnd]
		i = skipBlanks(object, skipBlanks(object, nameEnd)+len(":"))
		end := valueEnd(object, i)
		f(rawName, object[i:end])
		if i = skipBlanks(object, end); object[i] == ',' {
			i = skipBlanks(object, i+1)
		}
	}
}

// eachElement calls f with every element of an array that the scanner has read.
func eachElement(array []byte, f func(index int, value []byte)) {
	i := skipBlanks(array, 1)
	for n := 0; array[i] != ']'; n++ {
		end := valueEnd(array, i)
		f(n, array[i:end])
		if i = skipBlanks(array, end); array[i] == ',' {
			i = skipBlanks(array, i+1)
		}
	}
}

// valueEnd gives the offset after the value that begins at start.
func valueEnd(raw []byte, start int) int {
	switch raw[start] {
	case '"':
		return stringEnd(raw, start) + 1
	case '{', '[':
		return bracketEnd(raw, start)
	}
	i := start
	for i < len(raw) && !isBlank(raw[i]) && raw[i] != ',' && raw[i] != '}' && raw[i] != ']' {
		i++
	}
	return i
}

// bracketEnd gives the offset after the object or array that begins at start.
func bracketEnd(raw []byte, start int) int {
	depth := 0
	for i := start; i < len(raw); i++ {
		switch raw[i] {
		case '"':
			i = stringEnd(raw, i)
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth == 0 {
				return i + 1
			}
		}
	}
	return len(raw)
}

func skipBlanks(raw []byte, i int) int {
	for isBlank(raw[i]) {
		i++
	}
	return i
}

func isBlank(c byte) bool { return c == ' ' || c == '\t' || c == '\r' || c == '\n' }

// stringEnd gives the offset of the quote that closes the string opened at
// start, or the end of the text.
func stringEnd(raw []byte, start int) int {
	for i := start + 1; i < len(raw); {
		q := bytes.IndexByte(raw[i:], '"')
		if q < 0 {
			break
		}
		i += q
		backslashes := 0
		for raw[i-1-backslashes] == '\\' {
			backslashes++
		}
		if backslashes%2 == 0 {
			return i
		}
		i++
	}
	return len(raw)
}
