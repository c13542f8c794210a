/** An upload that began with a good token, and whose token ended on the way. */
import { afterEach, expect, test } from "@jest/globals";
import type { Authentication, Caller } from "@sluice/access";
import { waitFor } from "@sluice/testkit";
import { request } from "node:http";
import { startApp } from "./http-support.ts";
import { makeCleanups } from "./support.ts";

const cleanups = makeCleanups();
afterEach(() => cleanups.run());

const ADA: Caller = { id: "token:ada", name: "Ada", role: "depositor", scope: ["demo_content"], tenants: [] };

const JSON_BODY = JSON.stringify({ profile: "demo_content", payload_url: "https://content.example/a.checkm" });
const FORM_BODY = [
  '--x\r\nContent-Disposition: form-data; name="profile"\r\n\r\ndemo_content\r\n',
  '--x\r\nContent-Disposition: form-data; name="file"; filename="a.txt"\r\n\r\nhello\r\n--x--\r\n',
].join("");
const FORM_TYPE = "multipart/form-data; boundary=x";

test.each([
  ["/poster/submit", FORM_TYPE, FORM_BODY],
  ["/v1/batches", FORM_TYPE, FORM_BODY],
  ["/v1/batches", "application/json", JSON_BODY],
])("at %s as %s submits nothing, and is told so", async (path, type, body) => {
  let asked = 0;
  let now: Authentication = { kind: "caller", caller: ADA };
  const authenticate = (): Promise<Authentication> => {
    asked += 1;
    return Promise.resolve(now);
  };
  const { queue, port } = await startApp(cleanups, 1_000_000, 100, { authenticator: { authenticate } });
  const send = async (before: () => void): Promise<number> => {
    const begun = asked;
    const headers = { "content-type": type, "content-length": Buffer.byteLength(body), authorization: "Bearer ada" };
    const sending = request({ port, host: "127.0.0.1", path, method: "POST", headers });
    const answered = new Promise<number>((resolve, reject) => {
      sending.on("response", (answer) => resolve((answer.resume(), answer.statusCode ?? 0))).on("error", reject);
    });
    sending.write(body.slice(0, 60));
    await waitFor(() => asked > begun);
    before();
    sending.end(body.slice(60));
    return answered;
  };
  expect([200, 202]).toContain(await send(() => undefined));
  expect(queue.created.size).toBe(1);
  expect(await send(() => void (now = { kind: "refused", why: "your token was revoked" }))).toBe(401);
  expect(queue.created.size).toBe(1);
});
