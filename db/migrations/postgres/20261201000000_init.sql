-- +goose Up

-- Ids and other texts that are ordered compare by bytes on both databases.

CREATE TABLE gatehouse_meta (
    key   text COLLATE "C" PRIMARY KEY,
    value text NOT NULL
);

CREATE TABLE workspaces (
    id         text COLLATE "C" PRIMARY KEY,
    name       text COLLATE "C" NOT NULL UNIQUE,
    created_at timestamptz NOT NULL
);

CREATE TABLE tokens (
    id           text COLLATE "C" PRIMARY KEY,
    workspace_id text COLLATE "C" NOT NULL REFERENCES workspaces (id),
    scope        text NOT NULL,
    label        text NOT NULL,
    hash         text COLLATE "C" NOT NULL UNIQUE, -- SHA-256, hex
    created_at   timestamptz NOT NULL,
    expires_at   timestamptz,
    revoked_at   timestamptz
);

CREATE TABLE tasks (
    id                 text COLLATE "C" PRIMARY KEY,
    workspace_id       text COLLATE "C" NOT NULL REFERENCES workspaces (id),
    title              text NOT NULL,
    description        text NOT NULL,
    archived           boolean NOT NULL,
    primary_session_id text COLLATE "C",
    create_fingerprint text NOT NULL,
    change_seq         bigint NOT NULL, -- the number of the last committed change (EV-1)
    task_seq           bigint NOT NULL, -- the change that last touched the task and its sessions
    plan_seq           bigint NOT NULL,
    comments_seq       bigint NOT NULL,
    created_at         timestamptz NOT NULL,
    updated_at         timestamptz NOT NULL
);
CREATE INDEX tasks_by_workspace ON tasks (workspace_id, created_at, id);
CREATE INDEX tasks_in_order ON tasks (created_at, id);

CREATE TABLE task_sessions (
    id                 text COLLATE "C" PRIMARY KEY,
    task_id            text COLLATE "C" NOT NULL REFERENCES tasks (id) ON DELETE CASCADE,
    kind               text NOT NULL,
    parent_session_id  text COLLATE "C",
    agent_type         text,
    title              text NOT NULL,
    workspace_path     text,
    state              text NOT NULL,
    auto_run           boolean NOT NULL,
    incarnation_id     text COLLATE "C" NOT NULL,
    last_message_seq   bigint NOT NULL,
    last_position      bigint NOT NULL, -- of a delivery, never given twice
    queue_revision     bigint NOT NULL,
    create_fingerprint text NOT NULL,
    queue_seq          bigint NOT NULL,
    messages_seq       bigint NOT NULL,
    executions_seq     bigint NOT NULL,
    created_at         timestamptz NOT NULL,
    updated_at         timestamptz NOT NULL
);
CREATE INDEX task_sessions_by_task ON task_sessions (task_id, created_at, id);

-- Ids of tasks and sessions that were deleted. While the task of a session lives,
-- what the session changed outlives it, so its id is never given again; another
-- workspace never gets one of these ids at all.
CREATE TABLE deleted_ids (
    id           text COLLATE "C" PRIMARY KEY,
    workspace_id text COLLATE "C" NOT NULL,
    task_id      text COLLATE "C" -- of a session whose task lives
);
CREATE INDEX deleted_ids_by_task ON deleted_ids (task_id) WHERE task_id IS NOT NULL;

CREATE TABLE task_session_turns (
    id                 text COLLATE "C" PRIMARY KEY,
    task_id            text COLLATE "C" NOT NULL, -- goes with its session
    session_id         text COLLATE "C" NOT NULL REFERENCES task_sessions (id) ON DELETE CASCADE,
    state              text NOT NULL,
    create_fingerprint text NOT NULL,
    started_at         timestamptz NOT NULL,
    ended_at           timestamptz
);
CREATE INDEX task_session_turns_by_session ON task_session_turns (session_id, started_at, id);
CREATE INDEX task_session_turns_running ON task_session_turns (session_id)
    WHERE state = 'running';

CREATE TABLE task_plans (
    id                text COLLATE "C" PRIMARY KEY,
    task_id           text COLLATE "C" NOT NULL UNIQUE REFERENCES tasks (id) ON DELETE CASCADE,
    content           text NOT NULL,
    version           bigint NOT NULL,
    comments_revision bigint NOT NULL,
    created_at        timestamptz NOT NULL,
    updated_at        timestamptz NOT NULL,
    UNIQUE (task_id, id)
);

CREATE TABLE task_plan_revisions (
    plan_id    text COLLATE "C" NOT NULL REFERENCES task_plans (id) ON DELETE CASCADE,
    version    bigint NOT NULL,
    content    text NOT NULL,
    bytes      bigint NOT NULL,
    created_at timestamptz NOT NULL,
    PRIMARY KEY (plan_id, version)
);

CREATE TABLE task_plan_comments (
    task_id       text COLLATE "C" NOT NULL,
    id            text COLLATE "C" NOT NULL,
    plan_id       text COLLATE "C" NOT NULL,
    body          text NOT NULL,
    selected_text text NOT NULL,
    anchor_from   bigint NOT NULL,
    anchor_to     bigint NOT NULL,
    version       bigint NOT NULL,
    created_at    timestamptz NOT NULL,
    updated_at    timestamptz NOT NULL,
    PRIMARY KEY (task_id, id),
    FOREIGN KEY (task_id, plan_id) REFERENCES task_plans (task_id, id) ON DELETE CASCADE
);
CREATE INDEX task_plan_comments_in_order ON task_plan_comments (plan_id, created_at, id);

-- Outlives its comment, so that a repeated create never brings one back (PC-3).
CREATE TABLE task_plan_comment_creates (
    task_id     text COLLATE "C" NOT NULL REFERENCES tasks (id) ON DELETE CASCADE,
    id          text COLLATE "C" NOT NULL,
    plan_id     text COLLATE "C" NOT NULL,
    fingerprint text NOT NULL,
    PRIMARY KEY (task_id, id)
);

-- No foreign key to the session: a receipt outlives it (AD-7).
CREATE TABLE deliveries (
    id                 text COLLATE "C" PRIMARY KEY,
    task_id            text COLLATE "C" NOT NULL REFERENCES tasks (id) ON DELETE CASCADE,
    session_id         text COLLATE "C" NOT NULL,
    incarnation_id     text COLLATE "C" NOT NULL,
    kind               text NOT NULL,
    client_id          text COLLATE "C",
    state              text NOT NULL,
    position           bigint NOT NULL,
    content            text NOT NULL,
    plan_mode          boolean NOT NULL,
    model              text,
    attachments        jsonb NOT NULL,
    plan_comment_refs  jsonb NOT NULL,
    metadata           jsonb NOT NULL,
    message_id         text COLLATE "C",
    turn_id            text COLLATE "C",
    version            bigint NOT NULL,
    token_hash         text COLLATE "C", -- SHA-256 of the reservation's token, hex
    lease_expires_at   timestamptz,
    outcome            text,
    detail             text,
    pending_at         timestamptz NOT NULL, -- when it last entered each state
    reserved_at        timestamptz,
    attempted_at       timestamptz,
    acknowledged_at    timestamptz,
    outcome_unknown_at timestamptz,
    combined_at        timestamptz,
    requeued_at        timestamptz,
    cancelled_at       timestamptz,
    discarded_at       timestamptz,
    created_at         timestamptz NOT NULL,
    updated_at         timestamptz NOT NULL
);
CREATE INDEX deliveries_unfinished ON deliveries (session_id, position)
    WHERE state IN ('pending', 'reserved', 'combined');
-- At most one reservation of a session, whoever asks (DL-1).
CREATE UNIQUE INDEX deliveries_reserved ON deliveries (session_id)
    WHERE state = 'reserved';
CREATE INDEX deliveries_by_task ON deliveries (task_id, created_at, id);

CREATE TABLE admissions (
    task_id               text COLLATE "C" NOT NULL REFERENCES tasks (id) ON DELETE CASCADE,
    client_id             text COLLATE "C" NOT NULL,
    delivery_id           text COLLATE "C" NOT NULL,
    requested_session_id  text COLLATE "C" NOT NULL,
    fingerprint           jsonb NOT NULL, -- SHA-256 per field of the request
    consumed_comment_refs jsonb NOT NULL,
    created_at            timestamptz NOT NULL,
    PRIMARY KEY (task_id, client_id)
);

CREATE TABLE task_session_messages (
    id                  text COLLATE "C" PRIMARY KEY,
    task_id             text COLLATE "C" NOT NULL, -- goes with its session
    session_id          text COLLATE "C" NOT NULL REFERENCES task_sessions (id) ON DELETE CASCADE,
    seq                 bigint NOT NULL,
    deleted_at          timestamptz,
    role                text NOT NULL,
    type                text NOT NULL,
    content             text NOT NULL,
    thinking            text,
    tool_calls          jsonb NOT NULL,
    tool_call_id        text COLLATE "C",
    turn_id             text COLLATE "C",
    metadata            jsonb NOT NULL,
    sanitized           boolean NOT NULL,
    request_fingerprint text NOT NULL,
    created_at          timestamptz NOT NULL,
    updated_at          timestamptz NOT NULL,
    UNIQUE (session_id, seq)
);
CREATE INDEX task_session_messages_rounds ON task_session_messages (session_id, seq)
    WHERE role = 'user' AND deleted_at IS NULL;

CREATE INDEX task_session_messages_visible ON task_session_messages (session_id, seq)
    WHERE deleted_at IS NULL;

-- The calls of delegation tools, so that an execution finds its message (HI-6).
CREATE TABLE task_session_delegations (
    message_id   text COLLATE "C" NOT NULL REFERENCES task_session_messages (id) ON DELETE CASCADE,
    tool_call_id text COLLATE "C" NOT NULL,
    ordinal      integer NOT NULL,
    session_id   text COLLATE "C" NOT NULL,
    message_seq  bigint NOT NULL,
    PRIMARY KEY (message_id, tool_call_id)
);
CREATE INDEX task_session_delegations_by_call ON task_session_delegations (session_id, tool_call_id, message_seq);

-- No foreign key to message or session: a change outlives both (HI-4, HI-25).
CREATE TABLE message_file_changes (
    id                      text COLLATE "C" PRIMARY KEY,
    task_id                 text COLLATE "C" NOT NULL REFERENCES tasks (id) ON DELETE CASCADE,
    session_id              text COLLATE "C" NOT NULL,
    message_id              text COLLATE "C" NOT NULL,
    message_seq             bigint NOT NULL,
    ordinal                 integer NOT NULL,
    path                    text NOT NULL,
    path_key                text COLLATE "C" NOT NULL,
    old_path                text,
    old_path_key            text COLLATE "C",
    change_type             text NOT NULL,
    diff_mode               text NOT NULL,
    patch_truncated         boolean NOT NULL,
    diff_unavailable_reason text,
    lines_added             bigint,
    lines_deleted           bigint,
    tool_call_id            text COLLATE "C",
    created_at              timestamptz NOT NULL,
    text_bytes              bigint NOT NULL, -- of the three texts together
    before_content          text,
    after_content           text,
    patch                   text,
    UNIQUE (session_id, message_seq, ordinal)
);
CREATE INDEX message_file_changes_by_task ON message_file_changes (task_id);

CREATE TABLE subagent_executions (
    id                  text COLLATE "C" PRIMARY KEY,
    task_id             text COLLATE "C" NOT NULL REFERENCES tasks (id) ON DELETE CASCADE,
    parent_session_id   text COLLATE "C" NOT NULL,
    parent_tool_call_id text COLLATE "C",
    parent_message_id   text COLLATE "C",
    parent_message_seq  bigint,
    parent_call_ordinal integer, -- among the calls of that message; null when it has no such call
    child_session_id    text COLLATE "C" NOT NULL,
    run                 integer NOT NULL, -- of the child, from 1
    agent_type          text,
    tool                text NOT NULL,
    status              text NOT NULL,
    start_message_seq   bigint,
    end_message_seq     bigint,
    create_fingerprint  text NOT NULL,
    started_at          timestamptz NOT NULL,
    ended_at            timestamptz,
    updated_at          timestamptz NOT NULL
);
CREATE INDEX subagent_executions_waiting ON subagent_executions (parent_session_id, parent_tool_call_id)
    WHERE parent_message_id IS NULL;
CREATE INDEX subagent_executions_by_message ON subagent_executions (parent_session_id, parent_message_seq);
CREATE INDEX subagent_executions_by_child ON subagent_executions (child_session_id, run);
CREATE INDEX subagent_executions_by_task ON subagent_executions (task_id);
