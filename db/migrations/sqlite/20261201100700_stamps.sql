-- +goose Up

-- The change with which a person last asked the turns of a session to stop (EV-1).
ALTER TABLE task_sessions ADD COLUMN interrupt_seq integer NOT NULL DEFAULT 0;

-- The change that last touched an execution: who comes back is told of those that
-- changed, not of all that its session ever delegated. Of those that are there already,
-- that is their session's stamp, or that of the task where the session is gone.
ALTER TABLE subagent_executions ADD COLUMN change_seq integer NOT NULL DEFAULT 0;
UPDATE subagent_executions SET change_seq = COALESCE(
    (SELECT s.executions_seq FROM task_sessions AS s WHERE s.id = subagent_executions.parent_session_id),
    (SELECT t.task_seq FROM tasks AS t WHERE t.id = subagent_executions.task_id));
CREATE INDEX subagent_executions_by_change ON subagent_executions (task_id, change_seq);
DROP INDEX subagent_executions_by_task;
