/** A browser's session is worth something only here, and only until it ends. */
import { afterAll, afterEach, beforeAll, describe, expect, test } from "@jest/globals";
import { printTokenFile } from "@sluice/access";
import { keepToken, revokeToken } from "@sluice/queue-core";
import { makeLog } from "@sluice/stage-runtime";
import { testWorker, type TestWorker, testZooKeeper, waitFor } from "@sluice/testkit";
import type { Request } from "express";
import { randomBytes } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { makeSessions } from "../src/http/sessions.ts";
import { aTokenFor, startAdmin, type TestAdmin } from "./support.ts";

const OPERATOR = { name: "root", reason: "a test" };
let admin: TestAdmin;
let operator: TestWorker;
let connect: string;

beforeAll(async () => {
  ({ connect } = await testZooKeeper());
  admin = await startAdmin(connect);
  operator = await testWorker(connect, "operator", { register: false });
});
afterAll(async () => {
  await admin.stop();
  await operator.close();
});

const own = { "sec-fetch-site": "same-origin" };

async function login(at: TestAdmin, token: string, headers: Record<string, string> = {}): Promise<Response> {
  return fetch(`${at.url}/login`, {
    method: "POST",
    headers: { "content-type": "application/json", ...own, ...headers },
    body: JSON.stringify({ token }),
  });
}
const cookieIn = (response: Response): string => response.headers.get("set-cookie")!.split(";")[0]!;
const logout = (cookie: string) => fetch(`${admin.url}/logout`, { method: "POST", headers: { cookie, ...own } });
const asks = async (headers: Record<string, string>): Promise<number> =>
  (await fetch(`${admin.url}/v1/me`, { headers })).status;

test("its cookie is not the token, and is worth nothing as one", async () => {
  const token = admin.tokens.viewer;
  const response = await login(admin, token);
  expect(await response.json()).toEqual({ name: "viewer", role: "viewer" });
  expect(response.headers.get("set-cookie")).toMatch(/^sluice=[\w-]{43}; Path=\/; HttpOnly; SameSite=Strict$/);
  const cookie = cookieIn(response);
  expect(await asks({ cookie })).toBe(200);
  expect(await asks({ authorization: `Bearer ${cookie.slice("sluice=".length)}` })).toBe(401);
  expect(await asks({ cookie: `sluice=${token}` })).toBe(401);
});

test("a login is written down: who, and from where; and so is what they may not do", async () => {
  const lines: string[] = [];
  const told = await startAdmin(connect, { log: makeLog("admin", "info", { write: (line) => void lines.push(line) }) });
  const cookie = cookieIn(await login(told, told.tokens.viewer));
  await fetch(`${told.url}/v1/tokens?why=secret`, { headers: { cookie, ...own } });
  const line = (text: string) =>
    waitFor(() => lines.map((each) => JSON.parse(each) as Record<string, unknown>).find(({ msg }) => msg === text));
  const caller = expect.stringMatching(/^token:/);
  expect(await line("logged in")).toMatchObject({ caller, name: "viewer", role: "viewer", from: "127.0.0.1" });
  const refused = await line("a request was refused: its caller may not do that");
  expect(refused).toMatchObject({ level: "warn", caller, method: "GET", path: "/v1/tokens", from: "127.0.0.1" });
  expect(lines.join("")).not.toContain(told.tokens.viewer);
  await told.stop();
});

test("logout ends it, here and not only in the browser; others of the same token go on", async () => {
  const [one, other] = [await login(admin, admin.tokens.viewer), await login(admin, admin.tokens.viewer)].map(cookieIn);
  const left = await logout(one!);
  expect([left.status, left.headers.get("set-cookie")]).toEqual([204, expect.stringContaining("Max-Age=0")]);
  expect([await asks({ cookie: one! }), await asks({ cookie: other! })]).toEqual([401, 200]);
});

test("logging in again ends what the browser had", async () => {
  const first = cookieIn(await login(admin, admin.tokens.viewer));
  const second = cookieIn(await login(admin, admin.tokens.operator, { cookie: first }));
  expect([await asks({ cookie: first }), await asks({ cookie: second })]).toEqual([401, 200]);
});

test("it ends with its token, and does not come back", async () => {
  const [token, record] = aTokenFor("viewer", ["*"]);
  await keepToken(operator.ctx, OPERATOR, record);
  const cookie = cookieIn(await login(admin, token));
  expect(await asks({ cookie })).toBe(200);
  await revokeToken(operator.ctx, OPERATOR, record.id);
  await waitFor(async () => (await asks({ cookie })) === 401);
  await keepToken(operator.ctx, OPERATOR, record);
  expect(await asks({ authorization: `Bearer ${token}` })).toBe(200);
  expect(await asks({ cookie })).toBe(401);
});

test("a token of the file that the file revokes ends it at once", async () => {
  const [token, record] = aTokenFor("viewer", ["*"]);
  const alone = await startAdmin(connect, { more: [record] });
  const cookie = cookieIn(await login(alone, token));
  const status = async (): Promise<number> => (await fetch(`${alone.url}/v1/me`, { headers: { cookie } })).status;
  expect(await status()).toBe(200);
  await writeFile(join(alone.dir, "tokens.json"), JSON.stringify({ tokens: [record], revoked: [record.id] }));
  expect(await status()).toBe(401);
  await writeFile(join(alone.dir, "tokens.json"), printTokenFile([record]));
  await alone.stop();
});

describe("behind a proxy that is trusted", () => {
  let behind: TestAdmin;
  afterEach(async () => behind.stop());

  test("that speaks https, browsers take the cookie for https and this host alone", async () => {
    behind = await startAdmin(connect, { env: { TRUSTED_PROXIES: "loopback" } });
    const response = await login(behind, behind.tokens.viewer, { "x-forwarded-proto": "https" });
    expect(response.headers.get("set-cookie")).toMatch(
      /^__Host-sluice=[\w-]{43}; Path=\/; HttpOnly; SameSite=Strict; Secure$/,
    );
  });

  test("that is not, nobody is believed", async () => {
    behind = await startAdmin(connect);
    const response = await login(behind, behind.tokens.viewer, { "x-forwarded-proto": "https" });
    expect(response.headers.get("set-cookie")).toMatch(/^sluice=/);
  });
});

describe("sessions", () => {
  const asking = (cookie = "", secure = false) =>
    ({ secure, get: (name: string) => (name === "cookie" ? cookie : undefined) }) as unknown as Request;
  function opened(alwaysSecure = false) {
    const clock = { ms: 0 };
    const sessions = makeSessions({
      idleMs: 100,
      maxMs: 1_000,
      alwaysSecure,
      monotonicMs: () => clock.ms,
      randomBytes,
    });
    const begin = (whose = "token:ada"): string => sessions.begin(asking(), "Bearer t", whose).split(";")[0]!;
    return { clock, sessions, begin, isOpen: (cookie: string) => sessions.find(asking(cookie)) !== null };
  }

  test("end when they are idle; to look whether one is open is no use of it", () => {
    const { clock, sessions, begin, isOpen } = opened();
    const cookie = begin();
    clock.ms += 99;
    expect(isOpen(cookie)).toBe(true);
    clock.ms += 99;
    const session = sessions.find(asking(cookie))!;
    clock.ms += 99;
    expect(session.isOpen()).toBe(true);
    clock.ms += 1;
    expect([session.isOpen(), isOpen(cookie)]).toEqual([false, false]);
  });

  test("end after their longest time, however much they are used", () => {
    const { clock, begin, isOpen } = opened();
    const cookie = begin();
    for (; clock.ms < 1_000; clock.ms += 50) expect(isOpen(cookie)).toBe(true);
    expect(isOpen(cookie)).toBe(false);
  });

  test("of one caller are bounded: the one that was idle longest goes", () => {
    const { clock, begin, isOpen } = opened();
    const all = Array.from({ length: 20 }, () => {
      clock.ms += 1;
      return begin();
    });
    const other = begin("token:bob");
    isOpen(all[0]!);
    begin();
    expect(all.filter((cookie) => !isOpen(cookie))).toEqual([all[1]]);
    expect(isOpen(other)).toBe(true);
  });

  test("in production are for https only, whatever the request says", () => {
    const { sessions } = opened(true);
    expect(sessions.begin(asking(), "Bearer t", "a")).toMatch(/^__Host-sluice=.*; Secure$/);
  });
});
