package envelope

import (
	"encoding/xml"
	"strings"
	"unicode/utf8"

	"github.com/tidwall/gjson"
)

// maxBody is how deep into a body a dialect looks, in bytes.
const maxBody = 64 << 10

// content is a body as it was understood.
type content struct {
	doc  gjson.Result // an object or a list; does not exist for any other body
	text string       // a body that is neither, such as XML
}

// doc gives the body when it is a JSON object or list, in itself or written
// out in a string, once or twice (n8n hands on what it could not parse as a
// string). It does not exist for any other body.
func (r *response) doc() gjson.Result { return r.understood().doc }

// text gives a body that is no JSON, such as XML.
func (r *response) text() string { return r.understood().text }

func (r *response) understood() *content {
	if r.content == nil {
		r.content = understand(r.body)
	}
	return r.content
}

func understand(body []byte) *content {
	if isObject(body) || isArray(body) {
		return &content{doc: gjson.ParseBytes(cutBody(body))}
	}
	if !isString(body) {
		return &content{}
	}
	s := string(text(body))
	for level := 1; ; level++ {
		s = strings.TrimSpace(strings.TrimPrefix(s, "\ufeff"))
		if s == "" {
			return &content{}
		}
		whole := len(s) <= maxBody
		switch {
		case s[0] == '{' || s[0] == '[':
			if whole && !gjson.Valid(s) {
				return &content{text: s}
			}
			return &content{doc: gjson.ParseBytes(cutBody([]byte(s)))}
		case s[0] == '"' && level < 2 && gjson.Valid(s):
			s = gjson.Parse(s).Str
		case whole:
			return &content{text: s}
		default:
			return &content{text: strings.ToValidUTF8(s[:maxBody], string(utf8.RuneError))}
		}
	}
}

// cutBody keeps the first 64 KiB of a JSON text, up to the end of a value, so
// that no number is taken for its first digits.
func cutBody(body []byte) []byte {
	if len(body) <= maxBody {
		return body
	}
	end := maxBody
	for end > 0 && body[end-1] != ',' && body[end-1] != '}' && body[end-1] != ']' {
		end--
	}
	return body[:end]
}

// inXML is the text of the first element of that name in an XML body. What
// stands in a comment or a CDATA section is no element.
func inXML(name string) place {
	return place{"body <" + name + ">", func(r *response) []string {
		s := r.text()
		if !strings.HasPrefix(s, "<") {
			return nil
		}
		d := xml.NewDecoder(strings.NewReader(s))
		d.Strict = false
		for {
			token, err := d.Token()
			if err != nil {
				return nil
			}
			if start, ok := token.(xml.StartElement); ok && start.Name.Local == name {
				if value, _ := d.Token(); value != nil {
					if chars, ok := value.(xml.CharData); ok {
						return []string{strings.TrimSpace(string(chars))}
					}
				}
				return nil
			}
		}
	}}
}
