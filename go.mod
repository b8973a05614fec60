module n8n-retry-planner

go 1.26
