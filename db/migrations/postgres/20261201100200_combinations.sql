-- +goose Up

-- The deliveries that stand for one another: the combination a source is in, what a
-- delivery was queued again as, and what that was made from.
ALTER TABLE deliveries ADD COLUMN combined_into text COLLATE "C";
ALTER TABLE deliveries ADD COLUMN requeued_from text COLLATE "C";
ALTER TABLE deliveries ADD COLUMN requeued_as text COLLATE "C";
CREATE INDEX deliveries_sources ON deliveries (combined_into, position)
    WHERE combined_into IS NOT NULL;

-- A person wants the agent to stop and take something else.
ALTER TABLE task_session_turns ADD COLUMN interrupt_requested boolean NOT NULL DEFAULT false;
