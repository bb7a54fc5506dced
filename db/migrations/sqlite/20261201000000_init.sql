-- +goose Up

-- Times are text of one fixed width, RFC 3339 in UTC with six fraction digits, so
-- that they compare as they are stored.

CREATE TABLE gatehouse_meta (
    key   text PRIMARY KEY,
    value text NOT NULL
) STRICT;

CREATE TABLE workspaces (
    id         text PRIMARY KEY,
    name       text NOT NULL UNIQUE,
    created_at text NOT NULL
) STRICT;

CREATE TABLE tokens (
    id           text PRIMARY KEY,
    workspace_id text NOT NULL REFERENCES workspaces (id),
    scope        text NOT NULL,
    label        text NOT NULL,
    hash         text NOT NULL UNIQUE, -- SHA-256, hex
    created_at   text NOT NULL,
    expires_at   text,
    revoked_at   text
) STRICT;

CREATE TABLE tasks (
    id                 text PRIMARY KEY,
    workspace_id       text NOT NULL REFERENCES workspaces (id),
    title              text NOT NULL,
    description        text NOT NULL,
    archived           integer NOT NULL CHECK (archived IN (0, 1)),
    primary_session_id text,
    create_fingerprint text NOT NULL,
    change_seq         integer NOT NULL, -- the number of the last committed change (EV-1)
    task_seq           integer NOT NULL, -- the change that last touched the task and its sessions
    plan_seq           integer NOT NULL,
    comments_seq       integer NOT NULL,
    created_at         text NOT NULL,
    updated_at         text NOT NULL
) STRICT;
CREATE INDEX tasks_by_workspace ON tasks (workspace_id, created_at, id);
CREATE INDEX tasks_in_order ON tasks (created_at, id);

CREATE TABLE task_sessions (
    id                 text PRIMARY KEY,
    task_id            text NOT NULL REFERENCES tasks (id) ON DELETE CASCADE,
    kind               text NOT NULL,
    parent_session_id  text,
    agent_type         text,
    title              text NOT NULL,
    workspace_path     text,
    state              text NOT NULL,
    auto_run           integer NOT NULL CHECK (auto_run IN (0, 1)),
    incarnation_id     text NOT NULL,
    last_message_seq   integer NOT NULL,
    last_position      integer NOT NULL, -- of a delivery, never given twice
    queue_revision     integer NOT NULL,
    create_fingerprint text NOT NULL,
    queue_seq          integer NOT NULL,
    messages_seq       integer NOT NULL,
    executions_seq     integer NOT NULL,
    created_at         text NOT NULL,
    updated_at         text NOT NULL
) STRICT;
CREATE INDEX task_sessions_by_task ON task_sessions (task_id, created_at, id);

-- Ids of tasks and sessions that were deleted. While the task of a session lives,
-- what the session changed outlives it, so its id is never given again; another
-- workspace never gets one of these ids at all.
CREATE TABLE deleted_ids (
    id           text PRIMARY KEY,
    workspace_id text NOT NULL,
    task_id      text -- of a session whose task lives
) STRICT;
CREATE INDEX deleted_ids_by_task ON deleted_ids (task_id) WHERE task_id IS NOT NULL;

CREATE TABLE task_session_turns (
    id                 text PRIMARY KEY,
    task_id            text NOT NULL, -- goes with its session
    session_id         text NOT NULL REFERENCES task_sessions (id) ON DELETE CASCADE,
    state              text NOT NULL,
    create_fingerprint text NOT NULL,
    started_at         text NOT NULL,
    ended_at           text
) STRICT;
CREATE INDEX task_session_turns_by_session ON task_session_turns (session_id, started_at, id);
CREATE INDEX task_session_turns_running ON task_session_turns (session_id)
    WHERE state = 'running';

CREATE TABLE task_plans (
    id                text PRIMARY KEY,
    task_id           text NOT NULL UNIQUE REFERENCES tasks (id) ON DELETE CASCADE,
    content           text NOT NULL,
    version           integer NOT NULL,
    comments_revision integer NOT NULL,
    created_at        text NOT NULL,
    updated_at        text NOT NULL,
    UNIQUE (task_id, id)
) STRICT;

CREATE TABLE task_plan_revisions (
    plan_id    text NOT NULL REFERENCES task_plans (id) ON DELETE CASCADE,
    version    integer NOT NULL,
    content    text NOT NULL,
    bytes      integer NOT NULL,
    created_at text NOT NULL,
    PRIMARY KEY (plan_id, version)
) STRICT;

CREATE TABLE task_plan_comments (
    task_id       text NOT NULL,
    id            text NOT NULL,
    plan_id       text NOT NULL,
    body          text NOT NULL,
    selected_text text NOT NULL,
    anchor_from   integer NOT NULL,
    anchor_to     integer NOT NULL,
    version       integer NOT NULL,
    created_at    text NOT NULL,
    updated_at    text NOT NULL,
    PRIMARY KEY (task_id, id),
    FOREIGN KEY (task_id, plan_id) REFERENCES task_plans (task_id, id) ON DELETE CASCADE
) STRICT;
CREATE INDEX task_plan_comments_in_order ON task_plan_comments (plan_id, created_at, id);

-- Outlives its comment, so that a repeated create never brings one back (PC-3).
CREATE TABLE task_plan_comment_creates (
    task_id     text NOT NULL REFERENCES tasks (id) ON DELETE CASCADE,
    id          text NOT NULL,
    plan_id     text NOT NULL,
    fingerprint text NOT NULL,
    PRIMARY KEY (task_id, id)
) STRICT;

-- No foreign key to the session: a receipt outlives it (AD-7).
CREATE TABLE deliveries (
    id                 text PRIMARY KEY,
    task_id            text NOT NULL REFERENCES tasks (id) ON DELETE CASCADE,
    session_id         text NOT NULL,
    incarnation_id     text NOT NULL,
    kind               text NOT NULL,
    client_id          text,
    state              text NOT NULL,
    position           integer NOT NULL,
    content            text NOT NULL,
    plan_mode          integer NOT NULL CHECK (plan_mode IN (0, 1)),
    model              text,
    attachments        text NOT NULL CHECK (json_valid(attachments)),
    plan_comment_refs  text NOT NULL CHECK (json_valid(plan_comment_refs)),
    metadata           text NOT NULL CHECK (json_valid(metadata)),
    message_id         text,
    turn_id            text,
    version            integer NOT NULL,
    token_hash         text, -- SHA-256 of the reservation's token, hex
    lease_expires_at   text,
    outcome            text,
    detail             text,
    pending_at         text NOT NULL, -- when it last entered each state
    reserved_at        text,
    attempted_at       text,
    acknowledged_at    text,
    outcome_unknown_at text,
    combined_at        text,
    requeued_at        text,
    cancelled_at       text,
    discarded_at       text,
    created_at         text NOT NULL,
    updated_at         text NOT NULL
) STRICT;
CREATE INDEX deliveries_unfinished ON deliveries (session_id, position)
    WHERE state IN ('pending', 'reserved', 'combined');
-- At most one reservation of a session, whoever asks (DL-1).
CREATE UNIQUE INDEX deliveries_reserved ON deliveries (session_id)
    WHERE state = 'reserved';
CREATE INDEX deliveries_by_task ON deliveries (task_id, created_at, id);

CREATE TABLE admissions (
    task_id               text NOT NULL REFERENCES tasks (id) ON DELETE CASCADE,
    client_id             text NOT NULL,
    delivery_id           text NOT NULL,
    requested_session_id  text NOT NULL,
    fingerprint           text NOT NULL CHECK (json_valid(fingerprint)), -- SHA-256 per field of the request
    consumed_comment_refs text NOT NULL CHECK (json_valid(consumed_comment_refs)),
    created_at            text NOT NULL,
    PRIMARY KEY (task_id, client_id)
) STRICT;

CREATE TABLE task_session_messages (
    id                  text PRIMARY KEY,
    task_id             text NOT NULL, -- goes with its session
    session_id          text NOT NULL REFERENCES task_sessions (id) ON DELETE CASCADE,
    seq                 integer NOT NULL,
    deleted_at          text,
    role                text NOT NULL,
    type                text NOT NULL,
    content             text NOT NULL,
    thinking            text,
    tool_calls          text NOT NULL CHECK (json_valid(tool_calls)),
    tool_call_id        text,
    turn_id             text,
    metadata            text NOT NULL CHECK (json_valid(metadata)),
    sanitized           integer NOT NULL CHECK (sanitized IN (0, 1)),
    request_fingerprint text NOT NULL,
    created_at          text NOT NULL,
    updated_at          text NOT NULL,
    UNIQUE (session_id, seq)
) STRICT;
CREATE INDEX task_session_messages_rounds ON task_session_messages (session_id, seq)
    WHERE role = 'user' AND deleted_at IS NULL;

CREATE INDEX task_session_messages_visible ON task_session_messages (session_id, seq)
    WHERE deleted_at IS NULL;

-- The calls of delegation tools, so that an execution finds its message (HI-6).
CREATE TABLE task_session_delegations (
    message_id   text NOT NULL REFERENCES task_session_messages (id) ON DELETE CASCADE,
    tool_call_id text NOT NULL,
    ordinal      integer NOT NULL,
    session_id   text NOT NULL,
    message_seq  integer NOT NULL,
    PRIMARY KEY (message_id, tool_call_id)
) STRICT;
CREATE INDEX task_session_delegations_by_call ON task_session_delegations (session_id, tool_call_id, message_seq);

-- No foreign key to message or session: a change outlives both (HI-4, HI-25).
CREATE TABLE message_file_changes (
    id                      text PRIMARY KEY,
    task_id                 text NOT NULL REFERENCES tasks (id) ON DELETE CASCADE,
    session_id              text NOT NULL,
    message_id              text NOT NULL,
    message_seq             integer NOT NULL,
    ordinal                 integer NOT NULL,
    path                    text NOT NULL,
    path_key                text NOT NULL,
    old_path                text,
    old_path_key            text,
    change_type             text NOT NULL,
    diff_mode               text NOT NULL,
    patch_truncated         integer NOT NULL CHECK (patch_truncated IN (0, 1)),
    diff_unavailable_reason text,
    lines_added             integer,
    lines_deleted           integer,
    tool_call_id            text,
    created_at              text NOT NULL,
    text_bytes              integer NOT NULL, -- of the three texts together
    before_content          text,
    after_content           text,
    patch                   text,
    UNIQUE (session_id, message_seq, ordinal)
) STRICT;
CREATE INDEX message_file_changes_by_task ON message_file_changes (task_id);

CREATE TABLE subagent_executions (
    id                  text PRIMARY KEY,
    task_id             text NOT NULL REFERENCES tasks (id) ON DELETE CASCADE,
    parent_session_id   text NOT NULL,
    parent_tool_call_id text,
    parent_message_id   text,
    parent_message_seq  integer,
    parent_call_ordinal integer, -- among the calls of that message; null when it has no such call
    child_session_id    text NOT NULL,
    run                 integer NOT NULL, -- of the child, from 1
    agent_type          text,
    tool                text NOT NULL,
    status              text NOT NULL,
    start_message_seq   integer,
    end_message_seq     integer,
    create_fingerprint  text NOT NULL,
    started_at          text NOT NULL,
    ended_at            text,
    updated_at          text NOT NULL
) STRICT;
CREATE INDEX subagent_executions_waiting ON subagent_executions (parent_session_id, parent_tool_call_id)
    WHERE parent_message_id IS NULL;
CREATE INDEX subagent_executions_by_message ON subagent_executions (parent_session_id, parent_message_seq);
CREATE INDEX subagent_executions_by_child ON subagent_executions (child_session_id, run);
CREATE INDEX subagent_executions_by_task ON subagent_executions (task_id);
