/** Tokens that end: those of the tree and of the file, in the API and as metrics, without names, ids or hashes there. */
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { parseTokenFile, printTokenFile, type TokenRecord } from "@sluice/access";
import { keepToken } from "@sluice/queue-core";
import { type TestWorker, testWorker, testZooKeeper } from "@sluice/testkit";
import { ADMIN } from "@sluice/wire";
import { readFile, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { aTokenFor, refusalOf, startAdmin, type TestAdmin, valueOf } from "./support.ts";

const DAY_MS = 86_400_000;
const inDays = (days: number): string => new Date(Date.now() + days * DAY_MS).toISOString();

let admin: TestAdmin;
let root: TestWorker;
const record = (name: string, role: TokenRecord["role"], days: number): TokenRecord => ({
  ...aTokenFor(role, ["*"], name)[1],
  expires: inDays(days),
});
const KEPT = {
  soon: record("Sona Soon", "depositor", 13),
  sooner: record("Sina Sooner", "depositor", 1),
  late: record("Lara Late", "depositor", 15),
  ended: record("Edna Ended", "viewer", -6),
  longGone: record("Long gone", "viewer", -8),
  revoked: record("Revoked by the file", "operator", 2),
} as const;
const runner = record("Rudi the runner", "runner", 0.5);

beforeAll(async () => {
  const { connect } = await testZooKeeper();
  root = await testWorker(connect, "admin", { register: false });
  for (const each of Object.values(KEPT))
    expect(await keepToken(root.ctx, { name: "root", reason: "a test" }, each)).toEqual({ kind: "applied" });
  admin = await startAdmin(connect, { more: [runner] });
});
afterAll(async () => {
  await admin.stop();
  await root.close();
});

const ending = async (): Promise<readonly (readonly [string, string, boolean])[]> =>
  valueOf(await admin.as("admin").call(ADMIN.endingTokens, {})).items.map(({ name, place, expired }) => [
    name,
    place,
    expired,
  ]);
const metrics = async (): Promise<string> => (await fetch(`${admin.opsUrl}/metrics`)).text();

/** What the file holds after the change is read at the next look. */
async function changeFile(change: (tokens: readonly TokenRecord[]) => object): Promise<void> {
  const path = join(admin.dir, "tokens.json");
  const parsed = parseTokenFile(await readFile(path, "utf8"));
  if (!parsed.ok) throw new Error(parsed.problem);
  await writeFile(`${path}.new`, JSON.stringify(change([...parsed.tokens.values()])));
  await rename(`${path}.new`, path);
}

test("those within 14 days and of the last 7 are listed, the soonest first; the file is read again", async () => {
  const [ended, revoked, soon] = [
    ["Edna Ended", "tree", true],
    ["Revoked by the file", "tree", false],
    ["Sona Soon", "tree", false],
  ] as const;
  const [runners, sooner] = [
    ["Rudi the runner", "file", false],
    ["Sina Sooner", "tree", false],
  ] as const;
  expect(await ending()).toEqual([ended, runners, sooner, revoked, soon]);
  await changeFile((tokens) => ({ tokens, revoked: [KEPT.revoked.id] }));
  expect(await ending()).toEqual([ended, runners, sooner, soon]);
  await changeFile((tokens) => JSON.parse(printTokenFile(tokens.filter(({ id }) => id !== runner.id))) as object);
  expect(await ending()).toEqual([ended, sooner, revoked, soon]);
  await changeFile((tokens) => ({ tokens: [...tokens, runner], revoked: [] }));
});

test("they are counted by role, place and state, with the first end, and nothing tells whose they are", async () => {
  const text = await metrics();
  expect(text).toContain('sluice_tokens_ending{role="depositor",place="tree",state="ending"} 2\n');
  expect(text).toContain('sluice_tokens_ending{role="viewer",place="tree",state="ended"} 1\n');
  expect(text).toContain('sluice_tokens_ending{role="runner",place="file",state="ending"} 1\n');
  const first = Date.parse(KEPT.sooner.expires) / 1000;
  expect(text).toContain(`sluice_tokens_first_end_timestamp_seconds{role="depositor",place="tree"} ${first}\n`);
  for (const { id, name, hash } of [...Object.values(KEPT), runner])
    for (const secret of [id, name, hash]) expect(text).not.toContain(secret);
});

test("they are the admins' to see, without their hashes", async () => {
  for (const role of ["operator", "viewer", "depositor", "maintainer"] as const)
    expect(refusalOf(await admin.as(role).call(ADMIN.endingTokens, {})).status).toBe(403);
  expect(JSON.stringify(valueOf(await admin.as("admin").call(ADMIN.endingTokens, {})))).not.toContain(KEPT.soon.hash);
});
