package envelope

// field is a top-level member that the contract knows; all others are the
// caller's own.
type field uint8

const (
	callersOwn field = iota

	fStatusCode
	fHeaders
	fBody
	fData
	fStatusMessage
	fError
	fDetails

	fAttempts
	fMaxAttempts
	fBase
	fExpCap
	fTotalWaitBudget
	fElapsedWait

	fMethod
	fIdempotencyKey
	fTaskID
	fPolicy
	fGate

	fErrorCode
	fLastStatus
	fDecision
	fNextRequest
	fWaitSeconds
	fExplain
	fPermit       // with a gate; elsewhere the caller's own
	fGateBypassed // with a gate; elsewhere the caller's own

	fJSON // of an n8n item in a batch; elsewhere the caller's own

	numFields
)

// fieldOf finds a member by its decoded name. Names are compared with case.
func fieldOf(name []byte) field {
	switch string(name) {
	case "statusCode":
		return fStatusCode
	case "headers":
		return fHeaders
	case "body":
		return fBody
	case "data":
		return fData
	case "statusMessage":
		return fStatusMessage
	case "error":
		return fError
	case "details":
		return fDetails
	case "attempts":
		return fAttempts
	case "max_attempts":
		return fMaxAttempts
	case "base":
		return fBase
	case "exp_cap":
		return fExpCap
	case "total_wait_budget":
		return fTotalWaitBudget
	case "elapsed_wait":
		return fElapsedWait
	case "method":
		return fMethod
	case "idempotency_key":
		return fIdempotencyKey
	case "task_id":
		return fTaskID
	case "policy":
		return fPolicy
	case "gate":
		return fGate
	case "permit":
		return fPermit
	case "gate_bypassed":
		return fGateBypassed
	case "error_code":
		return fErrorCode
	case "last_status":
		return fLastStatus
	case "decision":
		return fDecision
	case "next_request":
		return fNextRequest
	case "wait_seconds":
		return fWaitSeconds
	case "explain":
		return fExplain
	case "json":
		return fJSON
	}
	return callersOwn
}
