package envelope

// FloorSource names the header or body field that the server's minimum wait
// came from, such as "header retry-after"; "" when the server gave none. It is
// one of the names that stand in the code, never a text that was sent.
func (it *Item) FloorSource() string { return it.reading.source }

// RaiseFloor takes over a minimum wait in seconds that came from elsewhere,
// where it is longer than the server's own. It must be called before planning;
// source names where it came from.
func (it *Item) RaiseFloor(seconds float64, source string) {
	if seconds > it.Outcome.Floor {
		it.Outcome.Floor, it.reading.source = seconds, source
	}
}
