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
const AUTH = { user: "me", password: "s3cret: ü" };
const MINE = "mine_content";
const ME = { ...AUTH, profiles: [MINE] };

describe("credentials", () => {
  test("belong to exactly one scheme, host and port", async () => {
    await write({ "data.example.org": ME, "Plain.example.org:8080": { ...ME, scheme: "http" } });
    const find = await open();
    for (const url of [
      "https://data.example.org/a?b",
      "https://DATA.example.org:443/",
      "http://plain.example.org:8080/",
    ])
      expect(await find(new URL(url), MINE)).toEqual(AUTH);
    for (const url of [
      ...["http://data.example.org/", "https://data.example.org:8443/", "https://a.data.example.org/"],
      ...["https://plain.example.org:8080/", "http://plain.example.org/", "https://data.example.org.evil.org/"],
    ])
      expect(await find(new URL(url), MINE)).toBeUndefined();
    expect([problems, credentialsProblem(file)]).toEqual([[], null]);
  });

  test("are for deposits of the profiles that their rule names, and of no others", async () => {
    const [hers, any] = [
      { user: "her", password: "h" },
      { user: "any", password: "a" },
    ];
    await write({
      "one.example.org": ME,
      "shared.example.org": [
        { ...ME, profiles: [MINE, "second_content"] },
        { ...hers, profiles: ["her_content"] },
        { ...any, profiles: ["*"] },
      ],
    });
    const find = await open();
    const table = { one: {} as Record<string, unknown>, shared: {} as Record<string, unknown> };
    for (const host of ["one", "shared"] as const)
      for (const profile of [MINE, "second_content", "her_content", "mine_content2", "", "*"])
        table[host][profile] = await find(new URL(`https://${host}.example.org/`), profile);
    expect(table).toEqual({
      one: { [MINE]: AUTH },
      shared: {
        ...{ [MINE]: AUTH, second_content: AUTH, her_content: hers },
        ...{ mine_content2: any, "": any, "*": any },
      },
    });
  });

  test("are read again when the file has changed, and hold while it is wrong or gone", async () => {
    await write({ "a.example.org": ME });
    const find = await open();
    await write({ "b.example.org": { ...ME, user: "other" } });
    expect(await find(new URL("https://a.example.org/"), MINE)).toBeUndefined();
    const other = { ...AUTH, user: "other" };
    expect(await find(new URL("https://b.example.org/"), MINE)).toEqual(other);
    await write('{"b.example.org": {"user": "x", "password": "s3cret');
    expect(await find(new URL("https://b.example.org/"), MINE)).toEqual(other);
    await unlink(file);
    expect(await find(new URL("https://b.example.org/"), MINE)).toEqual(other);
    expect(await find(new URL("https://b.example.org/"), MINE)).toEqual(other);
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
    ["a rule without a password", { "a.org": { user: "u", profiles: [MINE] } }],
    ["a user with a colon", { "a.org": { ...ME, user: "u:v" } }],
    ["a line break", { "a.org": { ...ME, password: "p\r\nX: y" } }],
    ["a word that nobody knows", { "a.org": { ...ME, pasword: "p" } }],
    ["for no profile", { "a.org": AUTH }],
    ["for an empty list of profiles", { "a.org": { ...AUTH, profiles: [] } }],
    ["for profiles that are no list", { "a.org": { ...AUTH, profiles: MINE } }],
    ["for a profile without a name", { "a.org": { ...AUTH, profiles: [""] } }],
    ["twice for one profile", { "a.org": [ME, { ...ME, user: "other" }] }],
    ["a rule without a password in a list", { "a.org": [ME, { user: "u", profiles: ["b"] }] }],
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
      [new URL(other.url).host]: { user: "you", password: "p", scheme: "http", profiles: ["*"] },
    });
    egress = createEgress({ policy: { ...PUBLIC_ONLY, allow: LOOPBACK }, credentials: await open() });
  });
  afterEach(async () => {
    await egress.close();
    await Promise.all([server.close(), other.close()]);
  });

  const sent = ({ requests }: TestServer): (string | undefined)[] =>
    requests.map(({ headers }) => headers.authorization);
  const basic = ({ user, password }: typeof AUTH): string =>
    `Basic ${Buffer.from(`${user}:${password}`).toString("base64")}`;

  test("they go to their host with GET and HEAD, and stay there over a redirect of its own", async () => {
    const url = server.on("/a", redirect("/b"));
    server.on("/b", content("x"));
    await egress.head(url, { profile: MINE });
    const got = await egress.get(url, { profile: MINE });
    if (got.ok) got.value.discard();
    expect(sent(server)).toEqual(Array.from({ length: 4 }, () => basic(ME)));
  });

  test("a redirect to another host takes none along, and earns none there or on the way back", async () => {
    const url = server.on("/a", redirect(other.on("/b", redirect(server.on("/c", content("x"))))));
    const got = await egress.get(url, { profile: MINE });
    expect(got).toMatchObject({ ok: true });
    if (got.ok) got.value.discard();
    expect([sent(server), sent(other)]).toEqual([[basic(ME), undefined], [undefined]]);
  });

  test("a request for another profile, or for none, gets none", async () => {
    const url = server.on("/a", content("x"));
    for (const options of [{}, { profile: "her_content" }]) {
      const got = await egress.get(url, options);
      if (got.ok) got.value.discard();
      await egress.head(url, options);
      await egress.post(url, { ...options, contentType: "text/plain", body: "" });
    }
    expect(sent(server)).toEqual(Array.from({ length: 6 }, () => undefined));
  });

  test("a request's own come first", async () => {
    const own = { user: "own", password: "p" };
    const got = await egress.get(server.on("/a", content("x")), { basicAuth: own, profile: MINE });
    if (got.ok) got.value.discard();
    expect(sent(server)).toEqual([basic(own)]);
  });
});
