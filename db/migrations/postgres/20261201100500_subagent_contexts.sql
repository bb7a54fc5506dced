-- +goose Up

-- One row per invocation of a subagent, merged from frames. No foreign key to the
-- turn: deleting a turn does not delete the measurement (SC-13). The metrics have no
-- default: what nobody reported is null, never 0.
CREATE TABLE task_session_subagents (
    id                  text COLLATE "C" PRIMARY KEY,
    task_session_id     text COLLATE "C" NOT NULL REFERENCES task_sessions (id) ON DELETE CASCADE,
    task_id             text COLLATE "C" NOT NULL, -- goes with its session
    turn_id             text COLLATE "C",
    agent_execution_id  text COLLATE "C" NOT NULL, -- 'unknown' when there is none (SC-20)
    tool_call_id        text COLLATE "C" NOT NULL,
    parent_tool_call_id text COLLATE "C",
    subagent_type       text,
    description         text,
    agent_id            text,
    child_session_id    text COLLATE "C",
    model               text,
    agent_status        text,
    tool_status         text,
    is_async            integer NOT NULL DEFAULT 0 CHECK (is_async IN (0, 1)),
    total_tokens        bigint,
    tool_use_count      bigint,
    duration_ms         bigint,
    source              text NOT NULL DEFAULT 'live' CHECK (source IN ('live', 'backfill')),
    observed_at         timestamptz NOT NULL,
    settled_at          timestamptz,
    updated_at          timestamptz NOT NULL,
    UNIQUE (task_session_id, agent_execution_id, tool_call_id)
);
CREATE INDEX task_session_subagents_by_session ON task_session_subagents (task_session_id, observed_at, tool_call_id, agent_execution_id);
CREATE INDEX task_session_subagents_by_task ON task_session_subagents (task_id);
CREATE INDEX task_session_subagents_by_turn ON task_session_subagents (turn_id);
