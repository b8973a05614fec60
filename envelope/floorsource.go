package envelope

// FloorSource names the header or body field that the server's minimum wait
// came from, such as "header retry-after"; "" when the server gave none. It is
// one of the names that stand in this package, never a text that was sent.
func (it *Item) FloorSource() string { return it.reading.source }
