// Follows a task with the client of docs/examples/events and tells each state to the test, which may answer "stop". It is the same
// in Node and in a page.
export async function report({ client, to, options }) {
  const tell = async (what) => (await fetch(to, { method: "POST", body: JSON.stringify(what) })).text();
  const stop = new AbortController();
  try {
    const { followTask } = await import(client);
    await followTask({ ...options, signal: stop.signal }, async (state, change) => {
      const { task, sessions, plan, comments } = state;
      const [queues, messages, executions] = [state.queues, state.messages, state.executions].map(Object.fromEntries);
      const answer = await tell({ change, state: { task, sessions, plan, comments, queues, messages, executions } });
      if (answer === "stop") stop.abort();
    });
  } catch (error) {
    await tell({ ended: { name: error.name, message: error.message, status: error.status, code: String(error.code) } });
  }
}
