package envelope

import "slices"

// member is one member of an object, name and value as they were written.
type member struct {
	rawName []byte
	value   []byte
}

// members takes the members of an object of which few names are known.
type members []member

// maxMembers is the most that are kept: an object of more has unknown ones
// among those, which are told.
const maxMembers = 100_000

func (m *members) takeName(_, raw []byte, at span) receiver {
	if len(*m) > maxMembers {
		return nil
	}
	*m = append(*m, member{rawName: at.of(raw)})
	return nil
}

func (m *members) takeValue(raw []byte, at span) { (*m)[len(*m)-1].value = at.of(raw) }

// Object reads the fields of a request that is no item. A method that finds a
// fault keeps it for Err, so that all of them are told at once. A field that
// no method has asked for is a fault too. null counts as absent.
type Object struct {
	members members
	path    string // before a field's name in faults, with the dot
	asked   []string
	faults  faults
}

// DecodeObject reads one JSON object, the whole of raw, which must not change
// while the object is in use. It gives a *MalformedError when raw is not one.
func DecodeObject(raw []byte) (*Object, error) {
	o := new(Object)
	if err := o.read(raw); err != nil {
		return nil, err
	}
	return o, nil
}

func (o *Object) read(raw []byte) error {
	s := new(scanner)
	i, err := s.start(raw)
	if err != nil {
		return err
	}
	isObject := raw[i] == '{'
	if i, err = s.value(i, &o.members); err != nil {
		return err
	}
	if !isObject {
		return &MalformedError{Problem: "the body is not a JSON object; send the fields as one object", Offset: -1}
	}
	return s.end(i)
}

// Err gives an *InvalidError with every fault that was found, nil when there
// is none.
func (o *Object) Err() error {
	for _, m := range o.members {
		if name := string(text(m.rawName)); !slices.Contains(o.asked, name) {
			o.fault(shortened(name), "unknown", "is not a field here: correct its spelling or remove it")
		}
	}
	if len(o.faults.list) == 0 {
		return nil
	}
	return &InvalidError{Faults: o.faults.list, Attempts: 1}
}

// Require finds fault with fields that are absent.
func (o *Object) Require(names ...string) {
	for _, name := range names {
		if _, ok := o.get(name); !ok {
			o.fault(name, "required", "is missing: send it")
		}
	}
}

// Positive gives a number above 0, fallback when it is absent.
func (o *Object) Positive(name string, fallback float64) float64 {
	return o.number(name, fallback, func(n float64) {
		if n <= 0 {
			o.fault(name, "greater_than", "must be more than 0")
		}
	})
}

// NotNegative gives a number of 0 or more, fallback when it is absent.
func (o *Object) NotNegative(name string, fallback float64) float64 {
	return o.number(name, fallback, func(n float64) {
		if n < 0 {
			o.fault(name, "min", "must be 0 or more")
		}
	})
}

// Share gives a number above 0 and up to 1, fallback when it is absent.
func (o *Object) Share(name string, fallback float64) float64 {
	return o.number(name, fallback, func(n float64) {
		if n <= 0 || n > 1 {
			o.fault(name, "range", "must be more than 0 and at most 1, such as 0.75 for 75 %")
		}
	})
}

// Count gives an integer of 1 or more, 0 when it is absent.
func (o *Object) Count(name string) int64 {
	value, ok := o.get(name)
	if !ok {
		return 0
	}
	return o.faults.integerFrom(value, o.path+name, 1)
}

func (o *Object) number(name string, fallback float64, check func(float64)) float64 {
	value, ok := o.get(name)
	if !ok {
		return fallback
	}
	n, ok := number(value)
	if !ok {
		o.fault(name, "number", "must be a number")
		return fallback
	}
	check(n)
	return n
}

// get gives the value of a field; ok is false when it is absent or null.
func (o *Object) get(name string) (value []byte, ok bool) {
	if !slices.Contains(o.asked, name) {
		o.asked = append(o.asked, name)
	}
	for _, m := range o.members {
		if string(text(m.rawName)) == name {
			return m.value, !isNull(m.value)
		}
	}
	return nil, false
}

func (o *Object) fault(name, rule, message string) { o.faults.add(o.path+name, rule, message) }

// elements calls each with every element of a JSON array.
func elements(array []byte, each func(index int, value []byte)) error {
	s := new(scanner)
	i, err := s.start(array)
	if err != nil {
		return err
	}
	i, more, err := s.openArray(i)
	for n := 0; more; n++ {
		end, err := s.value(i, nil)
		if err != nil {
			return err
		}
		each(n, array[i:end])
		if i, more, err = s.nextElement(end); err != nil {
			return err
		}
	}
	return err
}
