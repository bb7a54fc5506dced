-- +goose Up

-- The list of the runs that a session delegated, page by page (HI-23).
CREATE INDEX subagent_executions_in_order ON subagent_executions (parent_session_id, started_at, id);
