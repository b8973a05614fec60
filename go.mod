module n8n-retry-planner

go 1.26

require (
	github.com/go-json-experiment/json v1.27.2 // indirect
	github.com/tidwall/gjson v1.20.3 // indirect
	github.com/tidwall/match v1.1.1 // indirect
	github.com/tidwall/pretty v1.3.0 // indirect
)
