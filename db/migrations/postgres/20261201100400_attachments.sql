-- +goose Up

-- Files for prompts: staged until an admission claims them (AD-10).
CREATE TABLE attachments (
    id          text COLLATE "C" PRIMARY KEY,
    task_id     text COLLATE "C" NOT NULL REFERENCES tasks (id) ON DELETE CASCADE,
    name        text NOT NULL,
    media_type  text NOT NULL,
    bytes       bigint NOT NULL,
    delivery_id text COLLATE "C", -- that claimed it
    created_at  timestamptz NOT NULL,
    expires_at  timestamptz -- null once it is claimed
);
CREATE INDEX attachments_by_task ON attachments (task_id, created_at, id);
CREATE INDEX attachments_expiring ON attachments (expires_at)
    WHERE expires_at IS NOT NULL;

-- The bytes stand apart: to claim an attachment must not write them again. Files are
-- mostly compressed already, so the database does not try.
CREATE TABLE attachment_contents (
    attachment_id text COLLATE "C" PRIMARY KEY REFERENCES attachments (id) ON DELETE CASCADE,
    content       bytea NOT NULL
);
ALTER TABLE attachment_contents ALTER COLUMN content SET STORAGE EXTERNAL;
