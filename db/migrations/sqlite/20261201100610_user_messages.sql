-- +goose Up

-- The user messages of a session. SQLite prefers it to the index of all messages only
-- where role is one of its columns, and would otherwise go through a long round message
-- by message.
DROP INDEX task_session_messages_rounds;
CREATE INDEX task_session_messages_rounds ON task_session_messages (session_id, role, seq)
    WHERE role = 'user' AND deleted_at IS NULL;
