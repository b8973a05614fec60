module n8n-retry-planner

go 1.26

require (
	github.com/go-json-experiment/json v1.27.2
	github.com/stretchr/testify v1.12.1
	github.com/tidwall/gjson v1.20.3
)

require (
	github.com/tidwall/match v1.1.1 // indirect
	github.com/tidwall/pretty v1.3.0 // indirect
	go.yaml.in/yaml/v3 v3.0.5 // indirect
)
