import { chmod, mkdtemp, rm, unlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import {
  type Credentials,
  createEgress,
  credentialsProblem,
  type Egress,
  LOOPBACK,
  openCredentials,
  PUBLIC_ONLY,
} from "../src/index.ts";
import { content, redirect, startServer, type TestServer } from "./misbehaving-server.ts";

let folder: string;
let file: string;
let problems: string[];
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "sluice-credentials-"));
  file = join(folder, "auth.json");
  problems = [];
});
afterEach(() => rm(folder, { recursive: true, force: true }));

async function write(rules: unknown, mode = 0o600): Promise<void> {
  await writeFile(file, typeof rules === "string" ? rules : JSON.stringify(rules));
  await chmod(file, mode);
}

const open = (): Promise<Credentials> => openCredentials(file, (problem) => problems.push(problem));
const ME = { user: "me", password: "s3cret: ü" };

describe("credentials", () => {
  test("belong to exactly one scheme, host and port", async () => {
    await write({ "data.example.org": ME, "Plain.example.org:8080": { ...ME, scheme: "http" } });
    const find = await open();
    for (const url of [
      "https://data.example.org/a?b",
      "https://DATA.example.org:443/",
      "http://plain.example.org:8080/",
    ])
      expect(await find(new URL(url))).toEqual(ME);
    for (const url of [
      ...["http://data.example.org/", "https://data.example.org:8443/", "https://a.data.example.org/"],
      ...["https://plain.example.org:8080/", "http://plain.example.org/", "https://data.example.org.evil.org/"],
    ])
      expect(await find(new URL(url))).toBeUndefined();
    expect([problems, credentialsProblem(file)]).toEqual([[], null]);
  });

  test("are read again when the file has changed, and hold while it is wrong or gone", async () => {
    await write({ "a.example.org": ME });
    const find = await open();
    await write({ "b.example.org": { ...ME, user: "other" } });
    expect(await find(new URL("https://a.example.org/"))).toBeUndefined();
    const other = { ...ME, user: "other" };
    expect(await find(new URL("https://b.example.org/"))).toEqual(other);
    await write('{"b.example.org": {"user": "x", "password": "s3cret');
    expect(await find(new URL("https://b.example.org/"))).toEqual(other);
    await unlink(file);
    expect(await find(new URL("https://b.example.org/"))).toEqual(other);
    expect(await find(new URL("https://b.example.org/"))).toEqual(other);
    expect(problems).toEqual([
      `${file}: it is no JSON object; what was read before still holds`,
      expect.stringMatching(/ENOENT.*what was read before still holds/) as unknown,
    ]);
    expect(problems.join()).not.toContain("s3cret");
  });

  test("that everybody may read are warned of", async () => {
    await write({}, 0o644);
    await open();
    expect(problems).toEqual([`${file} can be read by everybody on this machine`]);
  });

  test.each([
    ["no JSON", "machine a login b"],
    ["a list", []],
    ["a rule without a password", { "a.org": { user: "u" } }],
    ["a user with a colon", { "a.org": { user: "u:v", password: "p" } }],
    ["a line break", { "a.org": { user: "u", password: "p\r\nX: y" } }],
    ["a word that nobody knows", { "a.org": { ...ME, pasword: "p" } }],
    ["another scheme", { "a.org": { ...ME, scheme: "ftp" } }],
    ["a URL", { "https://a.org/x": ME }],
    ["a user in the host", { "u@a.org": ME }],
  ])("that are %s stop the start, without being shown", async (_what, rules) => {
    await write(rules);
    await expect(open()).rejects.toThrow(file);
    await expect(open()).rejects.not.toThrow(/s3cret/);
    expect(credentialsProblem(file)).toMatch(file);
    expect(credentialsProblem(file)).not.toMatch(/s3cret/);
  });
});

describe("on the way out", () => {
  let server: TestServer;
  let other: TestServer;
  let egress: Egress;
  beforeEach(async () => {
    [server, other] = await Promise.all([startServer(), startServer()]);
    await write({
      [new URL(server.url).host]: { ...ME, scheme: "http" },
      [new URL(other.url).host]: { user: "you", password: "p", scheme: "http" },
    });
    egress = createEgress({ policy: { ...PUBLIC_ONLY, allow: LOOPBACK }, credentials: await open() });
  });
  afterEach(async () => {
    await egress.close();
    await Promise.all([server.close(), other.close()]);
  });

  const sent = ({ requests }: TestServer): (string | undefined)[] =>
    requests.map(({ headers }) => headers.authorization);
  const basic = ({ user, password }: typeof ME): string =>
    `Basic ${Buffer.from(`${user}:${password}`).toString("base64")}`;

  test("they go to their host with GET and HEAD, and stay there over a redirect of its own", async () => {
    const url = server.on("/a", redirect("/b"));
    server.on("/b", content("x"));
    await egress.head(url);
    const got = await egress.get(url);
    if (got.ok) got.value.discard();
    expect(sent(server)).toEqual(Array.from({ length: 4 }, () => basic(ME)));
  });

  test("a redirect to another host takes none along, and earns none there or on the way back", async () => {
    const url = server.on("/a", redirect(other.on("/b", redirect(server.on("/c", content("x"))))));
    const got = await egress.get(url);
    expect(got).toMatchObject({ ok: true });
    if (got.ok) got.value.discard();
    expect([sent(server), sent(other)]).toEqual([[basic(ME), undefined], [undefined]]);
  });

  test("a request's own come first", async () => {
    const own = { user: "own", password: "p" };
    const got = await egress.get(server.on("/a", content("x")), { basicAuth: own });
    if (got.ok) got.value.discard();
    expect(sent(server)).toEqual([basic(own)]);
  });
});
