package envelope

import "fmt"

// faults collects what is wrong, so that all of it is told at once.
type faults struct{ list []Fault }

// maxFaults bounds the list: an answer must not grow to many times what was
// sent.
const maxFaults = 50

func (f *faults) add(field, rule, message string) {
	if len(f.list) == maxFaults {
		return
	}
	f.list = append(f.list, Fault{Field: field, Rule: rule, Message: field + " " + message})
}

func (f *faults) boolean(value []byte, path string) bool {
	switch string(value) {
	case "true":
		return true
	case "false":
		return false
	}
	f.add(path, "boolean", "must be true or false")
	return false
}

// seconds reads a duration that may be 0.
func (f *faults) seconds(value []byte, path string) float64 {
	n, ok := number(value)
	switch {
	case !ok:
		f.add(path, "number", "must be a number of seconds")
	case n < 0:
		f.add(path, "min", "must be 0 seconds or more")
	}
	return n
}

// ratio reads a number without a unit that may be 0.
func (f *faults) ratio(value []byte, path string) float64 {
	n, ok := number(value)
	switch {
	case !ok:
		f.add(path, "number", "must be a number")
	case n < 0:
		f.add(path, "min", "must be 0 or more")
	}
	return n
}

// positiveSeconds reads a duration that may not be 0.
func (f *faults) positiveSeconds(value []byte, path string) float64 {
	n, ok := number(value)
	switch {
	case !ok:
		f.add(path, "number", "must be a number of seconds")
	case n <= 0:
		f.add(path, "greater_than", "must be more than 0 seconds")
	}
	return n
}

// integerFrom reads an integer that is least or more.
func (f *faults) integerFrom(value []byte, path string, least int64) int64 {
	n, ok := integer(value)
	switch {
	case !ok:
		f.add(path, "integer", "must be an integer")
	case n < least:
		f.add(path, "min", fmt.Sprintf("must be %d or more", least))
	}
	return n
}
