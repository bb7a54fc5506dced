import { followTask, Refused } from "./gatehouse-events.js";

// Shows a task until the page that shows it is left.
export async function showTask(url: string, token: string, task: string, left: AbortSignal): Promise<void> {
  try {
    await followTask({ url, token, task, signal: left }, ({ plan, comments, queues }, change) => {
      console.log(`${change.name}: ${comments?.comments.length ?? 0} comments on version ${plan?.version}`);
      for (const { session_id, entries } of queues.values()) console.log(`${entries.length} prompts wait for ${session_id}`);
    });
  } catch (error) {
    if (error instanceof Refused) console.log(`no longer: ${error.message}`); // sign in again, or back to the list of tasks
    else if (!left.aborted) throw error;
  }
}
