/** What began before the end of its caller's token does not reach beyond it: waits for jobs, commands for later. */
import { afterEach, describe, expect, test } from "@jest/globals";
import type { Authentication } from "@sluice/access";
import { type HttpServer, stillCheck } from "@sluice/http-api";
import { waitFor } from "@sluice/testkit";
import { Errands } from "../src/bedrock/errands.ts";
import type { Admission } from "../src/bedrock/conversation.ts";
import { ADA, portsOf, serveJobs } from "./support/http-door.ts";
import { MemoryQueue } from "./support/memory-queue.ts";
import { statusOf, WireTalk } from "./support/wire-talk.ts";

const DAY_MS = 24 * 3_600_000;
const KNOWN: Authentication = { kind: "caller", caller: ADA };

/** Ends, and is asked about at any time. */
class Token {
  now: Authentication = KNOWN;
  authenticate = (): Promise<Authentication> => Promise.resolve(this.now);
  revoke(): void {
    this.now = { kind: "refused", why: "your token was revoked" };
  }
}

describe("over TCP", () => {
  function talkWith(token: Token) {
    const queue = new MemoryQueue();
    const errors: unknown[] = [];
    const admit = (): Admission => ({
      tenant: "default",
      caller: "Ada",
      still: stillCheck(ADA, () => token.authenticate()),
    });
    const talk = new WireTalk(queue, {}, admit, (error) => void errors.push(error));
    return { queue, talk, errors };
  }

  test("a wait for a job gets none after the token's end; the job goes to others", async () => {
    const token = new Token();
    const { queue, talk } = talkWith(token);
    const waiting = talk.say("GetJob", "name: a", "Connection: wait");
    await waitFor(() => queue.waiting === 1);
    token.revoke();
    await new WireTalk(queue).say("CreateJob", "name: a");
    expect(statusOf(await waiting)).toBe("401 Unauthorized: your token has ended");
    expect(talk.heard).toEqual([]);
    expect(statusOf(await new WireTalk(queue).say("GetJob", "name: a"))).toBe("200 OK");
  });

  test("a wait gets its job while the token is good, or nobody can be asked about it", async () => {
    const token = new Token();
    const { queue, talk } = talkWith(token);
    const waiting = talk.say("GetJob", "name: a", "Connection: wait");
    await waitFor(() => queue.waiting === 1);
    token.now = { kind: "silence" };
    await new WireTalk(queue).say("CreateJob", "name: a");
    expect(statusOf(await waiting)).toBe("200 OK");
  });

  test("a command for later is not carried out after the token's end", async () => {
    const token = new Token();
    const { queue, talk, errors } = talkWith(token);
    await talk.say("CreateJob", "name: a");
    const at = (ms: number): string => `commandExecuteTime: ${(queue.now + ms) * 1000}`;
    expect(statusOf(await talk.say("DeleteJob", "jobID: 1", at(60_000)))).toBe("202 Successfully queued");
    token.revoke();
    await queue.pass(60_000);
    await talk.errands.close();
    expect(errors.map(String)).toEqual([
      "Error: DeleteJob of tenant default was not carried out: its caller's token has ended",
    ]);
    expect(statusOf(await talk.say("QueryJob", "jobID: 1"))).toBe("200 OK");
  });

  test("a command is put off for so long and no longer", async () => {
    const { queue, talk } = talkWith(new Token());
    const at = (ms: number): string => `commandExecuteTime: ${(queue.now + ms) * 1000}`;
    expect(statusOf(await talk.say("DeleteJob", "jobID: 1", at(DAY_MS)))).toBe("202 Successfully queued");
    const far = await talk.say("DeleteJob", "jobID: 1", at(DAY_MS + 1_000));
    expect(statusOf(far)).toBe("402 commandExecuteTime is more than 86400 seconds ahead, which is the limit");
    // A job for later stands in the tree, not in memory.
    expect(statusOf(await talk.say("CreateJob", "name: a", at(400 * DAY_MS)))).toBe("202 Successfully queued");
    await talk.errands.close();
  });
});

describe("over HTTP", () => {
  let server: HttpServer;
  afterEach(() => server.close(0));

  async function served(token: Token) {
    const queue = new MemoryQueue();
    const errors: unknown[] = [];
    const errands = new Errands(queue.later, { onError: (error) => void errors.push(error) });
    let taken: (() => void) | null = null;
    const { take, ...ports } = portsOf(queue);
    // Jobs come only when the test says so.
    const later: typeof take = async (asked) => {
      await new Promise<void>((resolve) => (taken = resolve));
      return take(asked);
    };
    server = await serveJobs({ ...ports, take: later, errands }, ADA, token);
    const post = (path: string, body: object): Promise<Response> =>
      fetch(`${server.url}${path}`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify(body),
      });
    const ask = (verb: string, body: object) => post(`/v1/tenants/default/commands/${verb}`, body);
    const hasAsked = (): boolean => taken !== null;
    const come = (): void => taken?.();
    return { queue, ask, post, errands, errors, hasAsked, come };
  }

  test("waits for jobs get none after the token's end, and commands for later are not carried out", async () => {
    const token = new Token();
    const { queue, ask, post, errands, errors, hasAsked, come } = await served(token);
    await ask("CreateJob", { name: "b" });
    const commandExecuteTime = (queue.now + 60_000) * 1_000;
    expect((await ask("DeleteJob", { jobID: 1, commandExecuteTime })).status).toBe(202);
    const waiting = ask("GetJob", { name: "a", connection: "wait" });
    const taking = post("/v1/take", { worker: "w", limit: 1, waitMs: 20_000 });
    // Both requests must be let in before the token ends.
    await waitFor(() => queue.waiting === 1 && hasAsked());
    token.revoke();
    come();
    expect((await taking).status).toBe(401);
    await new WireTalk(queue).say("CreateJob", "name: a");
    expect((await waiting).status).toBe(401);
    await queue.pass(60_000);
    await errands.close();
    expect(errors).toHaveLength(1);
    token.now = KNOWN;
    for (const jobID of [1, 2])
      expect(await (await ask("QueryJob", { jobID })).json()).toMatchObject({ state: "QUEUED" });
  });
});
