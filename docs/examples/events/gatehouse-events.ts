// Follows a task of Gatehouse, whatever cuts the connection: in browsers, and in Node 20 or newer.
import { createParser, type EventSourceMessage } from "eventsource-parser";
import type * as api from "./gatehouse-api.js";

/** What each event carries. A name that the contract adds does not compile until it is here. */
interface Payloads {
  "task.changed": api.TaskEvent;
  "task.plan.changed": api.PlanEvent;
  "task.plan.comments.changed": api.CommentsEvent;
  "session.queue.changed": api.QueueEvent;
  "session.messages.changed": api.MessagesEvent;
  "session.interrupt": api.InterruptEvent;
  "subagent.execution.changed": api.Execution;
  "ready": api.ReadyEvent;
}
export type TaskChange = { [Name in api.EventName]: { name: Name; data: Payloads[Name] } }[api.EventName];

export interface Options {
  url: string; // of the server, without a slash at its end
  task: string; // id
  token: string;
  signal?: AbortSignal; // ends it
  silence?: number; // milliseconds without a byte until the connection counts as lost; the server sends one every 15 s
  delay?: { first: number; most: number }; // milliseconds until the first try again, and at most
}

/** The server says no, and will again: the token (401), its scope (403), the task (404), or a mistake of ours. */
export class Refused extends Error {
  readonly status: number;
  readonly code: string;
  constructor(status: number, problem: { code?: string; detail?: string }) {
    super(problem.detail ?? `status ${status}`);
    this.name = "Refused";
    this.status = status;
    this.code = problem.code ?? "";
  }
}

/** What passes: no connection, a server that restarts, too many requests. */
class Interrupted extends Error {
  retryAfter?: number; // seconds, where the server says so
}

/** All there is to show of a task. */
export class TaskState {
  task?: api.TaskEvent["task"];
  sessions: api.TaskEvent["sessions"] = [];
  plan?: api.PlanEvent;
  readonly queues = new Map<string, api.QueueEvent>(); // by session
  readonly messages = new Map<string, api.HistoryMessage[]>(); // by session, in ascending seq
  readonly executions = new Map<string, api.Execution>(); // by their own id
  readonly interrupted = new Map<string, string>(); // the turn that is to stop, by session
  readonly #comments = new Map<string | null, api.CommentsEvent>(); // by plan

  /** The pending comments of the current plan (EV-3). */
  get comments(): api.CommentsEvent | undefined {
    return this.plan && this.#comments.get(this.plan.plan_id);
  }

  /** Takes a snapshot from the stream, or from the answer to a change, unless a newer one was here before it (EV-3). */
  applyComments(snapshot: api.CommentsEvent): void {
    const own = this.#comments.get(snapshot.plan_id);
    if (!own || snapshot.revision >= own.revision) this.#comments.set(snapshot.plan_id, snapshot);
  }

  apply({ name, data }: TaskChange): void {
    switch (name) {
      case "task.changed": return this.#applyTask(data);
      case "task.plan.changed": this.plan = data; return;
      case "task.plan.comments.changed": return this.applyComments(data);
      case "session.queue.changed": this.queues.set(data.session_id, data); return;
      case "session.interrupt": this.interrupted.set(data.session_id, data.turn_id); return;
      case "subagent.execution.changed": this.executions.set(data.id, data); return;
    }
  }

  #applyTask({ task, sessions }: api.TaskEvent): void {
    [this.task, this.sessions] = [task, sessions];
    const there = new Set(sessions.map((session) => session.id));
    for (const bySession of [this.queues, this.messages, this.interrupted]) {
      for (const session of bySession.keys()) if (!there.has(session)) bySession.delete(session);
    }
    for (const run of this.executions.values()) if (!there.has(run.parent_session_id)) this.executions.delete(run.id);
  }
}

/**
 * Follows a task. `see` is shown its state after each change, from when all of it is there; what it returns is awaited, what it
 * throws ends it all. It ends in no other way but with `Refused`, or the reason of the signal.
 */
export async function followTask(options: Options, see: (state: TaskState, change: TaskChange) => unknown): Promise<never> {
  const { signal = new AbortController().signal, delay = { first: 500, most: 30_000 } } = options;
  let [state, ready, last] = [new TaskState(), false, ""];
  for (let failures = 0; ; ) {
    signal.throwIfAborted();
    const connection = new Connection(options, signal);
    let told: number | undefined;
    try {
      for await (const { event, id, data } of connection.events(last)) {
        if (id && Number(id) <= Number(last)) { // the database is an older one: what is known here may never have been
          [state, ready, last] = [new TaskState(), false, ""];
          throw new Interrupted("the task went back");
        }
        const change = { name: event, data: JSON.parse(data) } as TaskChange;
        state.apply(change);
        if (change.name === "session.messages.changed") await readTranscript(connection, state.messages, change.data.session_id);
        ready ||= change.name === "ready";
        if (ready) await see(state, change);
        if (id) last = id; // only now: what fails before is sent again
        failures = 0;
      }
    } catch (error) {
      signal.throwIfAborted();
      if (!(error instanceof Interrupted)) throw error;
      told = error.retryAfter;
    } finally {
      connection.close();
    }
    const wait = told === undefined ? Math.min(delay.most, delay.first * 2 ** failures++) : told * 1000;
    await sleep(wait * (1 + Math.random() / 2), signal); // not every client at once
  }
}

const overlap = 50; // messages that are read again each time: a call gets its result, an answer is corrected

/** Reads what is new of a transcript, and the end of what is there; or all of it, if more than that end was taken back. */
async function readTranscript(connection: Connection, transcripts: TaskState["messages"], session: string): Promise<void> {
  const known = transcripts.get(session) ?? [];
  const from = known.at(-overlap)?.seq ?? 1;
  let found = await connection.messages(session, from - 1);
  if (from > 1) {
    const whole = found[0]?.seq === from;
    found = whole ? [...known.filter(({ seq }) => seq < from), ...found] : await connection.messages(session, 0);
  }
  transcripts.set(session, found);
}

/** Requests that end with the signal, or when the server is silent. They fail with `Refused` or `Interrupted`. */
class Connection {
  readonly #options: Options;
  readonly #stop = new AbortController();
  constructor(options: Options, signal: AbortSignal) {
    this.#options = options;
    signal.addEventListener("abort", () => this.close(), { signal: this.#stop.signal });
  }

  close(): void {
    this.#stop.abort();
  }

  /** The events since the last one, until the stream ends. */
  async *events(last: string): AsyncGenerator<EventSourceMessage> {
    const response = await this.#get(`/v1/tasks/${this.#options.task}/events`, last ? { "Last-Event-ID": last } : {});
    const [reader, decoder, found] = [response.body!.getReader(), new TextDecoder(), [] as EventSourceMessage[]];
    const parser = createParser({ onEvent: (message) => found.push(message) });
    for (;;) {
      const { done, value } = await this.#patiently(reader.read());
      if (done) return;
      parser.feed(decoder.decode(value, { stream: true }));
      yield* found.splice(0);
    }
  }

  /** All messages behind a seq, in the order of theirs; none of a session that is gone, as `task.changed` will tell. */
  async messages(session: string, after: number): Promise<api.HistoryMessage[]> {
    try {
      const response = await this.#get(`/v1/sessions/${session}/messages?limit=200&diffs=none&after=${after}`);
      const { messages, has_more }: api.History = await this.#patiently(response.json());
      messages.sort((a, b) => a.seq - b.seq); // a result comes behind its call, wherever it is
      return has_more ? [...messages, ...await this.messages(session, messages.at(-1)!.seq)] : messages;
    } catch (error) {
      if (error instanceof Refused && error.status === 404) return [];
      throw error;
    }
  }

  async #get(path: string, more: Record<string, string> = {}): Promise<Response> {
    const headers = { ...more, Authorization: `Bearer ${this.#options.token}` };
    const response = await this.#patiently(fetch(this.#options.url + path, { headers, signal: this.#stop.signal }));
    if (response.ok) return response;
    if (response.status !== 429 && response.status < 500) {
      throw new Refused(response.status, await this.#patiently(response.json()).catch(() => ({})));
    }
    const seconds = response.headers.get("Retry-After") ?? "";
    throw Object.assign(new Interrupted(`status ${response.status}`), /^\d+$/.test(seconds) && { retryAfter: Number(seconds) });
  }

  async #patiently<T>(work: Promise<T>): Promise<T> {
    const timer = setTimeout(() => this.#stop.abort(), this.#options.silence ?? 40_000);
    return work.catch((error) => { throw new Interrupted(String(error)); }).finally(() => clearTimeout(timer));
  }
}

function sleep(milliseconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = () => (clearTimeout(timer), reject(signal.reason));
    const timer = setTimeout(() => (signal.removeEventListener("abort", stop), resolve()), milliseconds);
    signal.addEventListener("abort", stop);
  });
}
