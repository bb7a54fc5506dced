-- +goose Up

-- What a tool-call message has heard: a frame that is told again changes nothing,
-- whatever became of the message since (HI-9).
CREATE TABLE task_session_frames (
    message_id  text NOT NULL REFERENCES task_session_messages (id) ON DELETE CASCADE,
    fingerprint text NOT NULL, -- SHA-256, hex
    PRIMARY KEY (message_id, fingerprint)
) STRICT, WITHOUT ROWID;
