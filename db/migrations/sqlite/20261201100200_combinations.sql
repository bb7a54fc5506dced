-- +goose Up

-- The deliveries that stand for one another: the combination a source is in, what a
-- delivery was queued again as, and what that was made from.
ALTER TABLE deliveries ADD COLUMN combined_into text;
ALTER TABLE deliveries ADD COLUMN requeued_from text;
ALTER TABLE deliveries ADD COLUMN requeued_as text;
CREATE INDEX deliveries_sources ON deliveries (combined_into, position)
    WHERE combined_into IS NOT NULL;

-- A person wants the agent to stop and take something else.
ALTER TABLE task_session_turns ADD COLUMN interrupt_requested integer NOT NULL DEFAULT 0 CHECK (interrupt_requested IN (0, 1));
