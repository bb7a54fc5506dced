// Hands the prompts of one session to an agent behind a URL: node runner.mts, with Node 22.18 or newer.
import { exec } from "node:child_process";
import { promisify } from "node:util";

type Answer = { status: number; delivery: { id: string; content: string }; token: string; turn_id: string; code: string };

const { GATEHOUSE_URL, GATEHOUSE_TOKEN, GATEHOUSE_SESSION, AGENT_URL, PREPARE, LEASE_SECONDS } = process.env;
const lease = Number(LEASE_SECONDS ?? 30);
if (!GATEHOUSE_URL || !GATEHOUSE_TOKEN || !GATEHOUSE_SESSION || !AGENT_URL) {
  throw new Error("set GATEHOUSE_URL, GATEHOUSE_TOKEN, GATEHOUSE_SESSION and AGENT_URL");
}

// call repeats a request until it is answered. Each of them may be repeated.
async function call(method: string, path: string, body: object): Promise<Answer> {
  const headers = { "Authorization": `Bearer ${GATEHOUSE_TOKEN}`, "Content-Type": "application/json" };
  for (;;) {
    try {
      const response = await fetch(GATEHOUSE_URL + path, { method, headers, body: JSON.stringify(body) });
      const answer = JSON.parse((await response.text()) || "{}");
      if (response.status < 500 && response.status !== 429) return { ...answer, status: response.status };
      console.error(`again in a second: status ${response.status}`);
    } catch (error) { // nobody knows what became of it
      console.error(`again in a second: ${error}`);
    }
    await new Promise((done) => setTimeout(done, 1000));
  }
}

async function deliver(path: string, token: string, content: string) {
  const renewing = setInterval(() => call("POST", `${path}/renew`, { token, lease_seconds: lease }), lease * 1000 / 3);
  const failed = await promisify(exec)(PREPARE ?? "true").then(() => null, (error) => error); // a checkout, a container
  clearInterval(renewing);
  if (failed) { // nothing was sent: somebody tries again, not at once
    console.error(`not prepared: ${failed}`);
    await call("POST", `${path}/release`, { token, reason: "not prepared" });
    return new Promise((done) => setTimeout(done, 1000));
  }

  const attempted = await call("POST", `${path}/attempt`, { token });
  if (attempted.code === "delivery_attempted") { // by the first of two calls, whose answer was lost
    await call("POST", `${path}/acknowledge`, { token, outcome: "failed", detail: "never sent" });
  }
  if (attempted.status !== 200) { // lease_lost: it is another runner's now
    return console.error(`not sent: ${attempted.code}`);
  }

  let outcome = "succeeded";
  const response = await fetch(AGENT_URL as string, { method: "POST", body: content }).catch((error) => {
    outcome = error.cause?.code === "ECONNREFUSED" ? "failed" : "unknown"; // refused: it has not got it, for certain
  });
  if (response && !response.ok) outcome = response.status < 500 ? "failed" : "unknown";
  await call("POST", `${path}/acknowledge`, { token, outcome });
  await response?.text().catch(() => {}); // the agent works until its answer ends
  await call("PATCH", `/v1/turns/${attempted.turn_id}`, { state: response?.ok ? "completed" : "failed" });
}

for (;;) {
  const reserved = await call("POST", `/v1/sessions/${GATEHOUSE_SESSION}/deliveries/reserve`, { lease_seconds: lease, wait_seconds: 30 });
  if (reserved.status === 200) await deliver(`/v1/deliveries/${reserved.delivery.id}`, reserved.token, reserved.delivery.content);
  else if (reserved.status !== 204) throw new Error(`the session hands nothing out: ${reserved.status} ${reserved.code}`);
}
