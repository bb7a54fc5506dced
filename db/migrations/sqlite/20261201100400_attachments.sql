-- +goose Up

-- Files for prompts: staged until an admission claims them (AD-10).
CREATE TABLE attachments (
    id          text PRIMARY KEY,
    task_id     text NOT NULL REFERENCES tasks (id) ON DELETE CASCADE,
    name        text NOT NULL,
    media_type  text NOT NULL,
    bytes       integer NOT NULL,
    delivery_id text, -- that claimed it
    created_at  text NOT NULL,
    expires_at  text -- null once it is claimed
) STRICT;
CREATE INDEX attachments_by_task ON attachments (task_id, created_at, id);
CREATE INDEX attachments_expiring ON attachments (expires_at)
    WHERE expires_at IS NOT NULL;

-- The bytes stand apart: to claim an attachment must not write them again.
CREATE TABLE attachment_contents (
    attachment_id text PRIMARY KEY REFERENCES attachments (id) ON DELETE CASCADE,
    content       blob NOT NULL
) STRICT;
