package handlers

import "gatehouse/domain/access"

// OperationRules says who may call each operation of openapi.yaml (API-25). [New]
// fails while the two differ.
var OperationRules = Rules{
	// System.
	"getLiveness":     {Scope: Public},
	"getHealth":       {Scope: Public},
	"getReadiness":    {Scope: Public},
	"getMetrics":      {Scope: Public},
	"getContractJson": {Scope: Public},
	"getContractYaml": {Scope: Public},
	"getVersion":      {Scope: Public},
	"getLimits":       {Scope: access.ScopeUser},

	// Access.
	"createWorkspace": {Scope: access.ScopeAdmin},
	"listWorkspaces":  {Scope: access.ScopeAdmin},
	"createToken":     {Scope: access.ScopeAdmin},
	"listTokens":      {Scope: access.ScopeAdmin},
	"revokeToken":     {Scope: access.ScopeAdmin},

	// Tasks.
	"createTask":        {Scope: access.ScopeUser},
	"listTasks":         {Scope: access.ScopeUser},
	"getTask":           {Scope: access.ScopeUser, Of: access.ResourceTask},
	"updateTask":        {Scope: access.ScopeUser, Of: access.ResourceTask},
	"deleteTask":        {Scope: access.ScopeUser, Of: access.ResourceTask},
	"setPrimarySession": {Scope: access.ScopeUser, Of: access.ResourceTask},

	// Sessions.
	"createSession": {Scope: access.ScopeUser, Of: access.ResourceTask},
	"listSessions":  {Scope: access.ScopeUser, Of: access.ResourceTask},
	"getSession":    {Scope: access.ScopeUser, Of: access.ResourceSession},
	"updateSession": {Scope: access.ScopeUser, Of: access.ResourceSession},
	"deleteSession": {Scope: access.ScopeUser, Of: access.ResourceSession},
	"resetSession":  {Scope: access.ScopeRunner, Of: access.ResourceSession},
	"startTurn":     {Scope: access.ScopeRunner, Of: access.ResourceSession},
	"listTurns":     {Scope: access.ScopeUser, Of: access.ResourceSession},
	"endTurn":       {Scope: access.ScopeRunner, Of: access.ResourceTurn},
	"deleteTurn":    {Scope: access.ScopeRunner, Of: access.ResourceTurn},

	// Plans.
	"getPlan":           {Scope: access.ScopeUser, Of: access.ResourceTask},
	"savePlan":          {Scope: access.ScopeUser, Of: access.ResourceTask},
	"deletePlan":        {Scope: access.ScopeUser, Of: access.ResourceTask},
	"listPlanRevisions": {Scope: access.ScopeUser, Of: access.ResourceTask},
	"getPlanRevision":   {Scope: access.ScopeUser, Of: access.ResourceTask},
	"revertPlan":        {Scope: access.ScopeUser, Of: access.ResourceTask},

	// Comments.
	"listPlanComments":   {Scope: access.ScopeUser, Of: access.ResourceTask},
	"createPlanComment":  {Scope: access.ScopeUser, Of: access.ResourceTask},
	"updatePlanComment":  {Scope: access.ScopeUser, Of: access.ResourceTask},
	"deletePlanComment":  {Scope: access.ScopeUser, Of: access.ResourceTask},
	"importPlanComments": {Scope: access.ScopeUser, Of: access.ResourceTask},

	// Prompts.
	"admitPrompt":    {Scope: access.ScopeUser, Of: access.ResourceTask},
	"runPlanComment": {Scope: access.ScopeUser, Of: access.ResourceTask},
	"getAdmission":   {Scope: access.ScopeUser, Of: access.ResourceTask},

	// Attachments.
	"createAttachment": {Scope: access.ScopeUser, Of: access.ResourceTask},
	"listAttachments":  {Scope: access.ScopeUser, Of: access.ResourceTask},
	"getAttachment":    {Scope: access.ScopeUser, Of: access.ResourceTask},
	"deleteAttachment": {Scope: access.ScopeUser, Of: access.ResourceTask},

	// Queue.
	"getQueue":         {Scope: access.ScopeUser, Of: access.ResourceTask},
	"admitQueued":      {Scope: access.ScopeUser, Of: access.ResourceTask},
	"editQueueEntry":   {Scope: access.ScopeUser, Of: access.ResourceTask},
	"removeQueueEntry": {Scope: access.ScopeUser, Of: access.ResourceTask},
	"reorderQueue":     {Scope: access.ScopeUser, Of: access.ResourceTask},
	"appendToQueue":    {Scope: access.ScopeUser, Of: access.ResourceTask},
	"sendNow":          {Scope: access.ScopeUser, Of: access.ResourceTask},

	// Deliveries.
	"listDeliveries":      {Scope: access.ScopeUser, Of: access.ResourceTask},
	"reserveDelivery":     {Scope: access.ScopeRunner, Of: access.ResourceSession},
	"getDelivery":         {Scope: access.ScopeUser, Of: access.ResourceDelivery},
	"renewDelivery":       {Scope: access.ScopeRunner, Of: access.ResourceDelivery},
	"attemptDelivery":     {Scope: access.ScopeRunner, Of: access.ResourceDelivery},
	"releaseDelivery":     {Scope: access.ScopeRunner, Of: access.ResourceDelivery},
	"acknowledgeDelivery": {Scope: access.ScopeRunner, Of: access.ResourceDelivery},
	"resolveDelivery":     {Scope: access.ScopeUser, Of: access.ResourceDelivery},

	// Messages.
	"appendMessages":   {Scope: access.ScopeRunner, Of: access.ResourceSession, Ingest: true},
	"appendFrames":     {Scope: access.ScopeRunner, Of: access.ResourceSession, Ingest: true},
	"rollbackMessages": {Scope: access.ScopeRunner, Of: access.ResourceSession},
	"updateMessage":    {Scope: access.ScopeRunner, Of: access.ResourceMessage, Ingest: true},

	// Executions.
	"startExecution": {Scope: access.ScopeRunner, Of: access.ResourceSession},
	"listExecutions": {Scope: access.ScopeUser, Of: access.ResourceSession},
	"endExecution":   {Scope: access.ScopeRunner, Of: access.ResourceExecution},

	// Subagents.
	"listSubagentContexts":      {Scope: access.ScopeUser, Of: access.ResourceSession},
	"summarizeSubagentContexts": {Scope: access.ScopeUser, Of: access.ResourceSession},
	"getSubagentContextHealth":  {Scope: access.ScopeAdmin},

	// History.
	"listMessages":        {Scope: access.ScopeUser, Of: access.ResourceSession},
	"listRounds":          {Scope: access.ScopeUser, Of: access.ResourceSession},
	"listFileChanges":     {Scope: access.ScopeUser, Of: access.ResourceSession},
	"getFileChange":       {Scope: access.ScopeUser, Of: access.ResourceFileChange},
	"listMessagesAsAdmin": {Scope: access.ScopeAdmin, Of: access.ResourceSession},

	// Events.
	"streamEvents": {Scope: access.ScopeUser, Of: access.ResourceTask, Stream: true},
	"openSocket":   {Scope: Public, Stream: true}, // its first message authenticates, and each other one asks for an operation
}
