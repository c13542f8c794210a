/** Submissions during an outage, and what must have become of them afterwards. */
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "@jest/globals";
import { type BatchId, parseBatchId, paths } from "@sluice/queue-core";
import { checkInvariants, describeViolation, type TestZooKeeper, waitFor } from "@sluice/testkit";
import { connectSession } from "@sluice/zookeeper";
import { folderOf, type Site } from "./fleet-support.ts";

export interface Sent {
  readonly key: string;
  /** What is in the upload; null = it came with a URL. */
  readonly text: string | null;
}

const PROFILE = "demo_content";

/** Answers the status and the id; null when nobody answered. */
export async function submit(url: string, { key, text }: Sent): Promise<{ status: number; id: string } | null> {
  const headers = { "idempotency-key": key };
  const body = text === null ? jsonOf(key) : formOf(text);
  const type = text === null ? { "content-type": "application/json" } : {};
  const answer = await fetch(`${url}/v1/batches`, { method: "POST", headers: { ...headers, ...type }, body }).catch(
    () => null,
  );
  if (answer === null) return null;
  const { id = "" } = (await answer.json()) as { id?: string };
  return { status: answer.status, id };
}

const jsonOf = (key: string): string =>
  JSON.stringify({ profile: PROFILE, type: "file", payload_url: `http://content.example/${key}` });

function formOf(text: string): FormData {
  const form = new FormData();
  form.append("profile", PROFILE);
  form.append("type", "file");
  form.append("file", new Blob([text]), "object.txt");
  return form;
}

/** The number that the queue gave it, once it has. */
export const numberOf = (url: string, id: string): Promise<BatchId> =>
  waitFor(
    async () => {
      const answer = await fetch(`${url}/v1/batches/${id}`);
      const { bid } = answer.ok ? ((await answer.json()) as { bid: string | null }) : { bid: null };
      return bid === null ? null : parseBatchId(bid);
    },
    { what: `a number for ${id}` },
  );

/** Every submission is one batch with its own files, nothing else is there, and no rule of the queue was broken. */
export async function expectExactlyOnce(
  { site, zookeeper, url }: { site: Site; zookeeper: TestZooKeeper; url: string },
  sent: readonly { readonly id: string; readonly text: string | null }[],
): Promise<readonly BatchId[]> {
  const numbers: BatchId[] = [];
  for (const { id } of sent) numbers.push(await numberOf(url, id));
  // The operator's own session may not have outlived the outage.
  const session = await connectSession({ connect: zookeeper.connect, timeoutMs: 10_000 });
  const batches = await session.children(paths.batches);
  await session.close();
  expect(batches.ok && [...batches.value.names].filter((name) => parseBatchId(name) !== null).sort()).toEqual(
    [...numbers].sort(),
  );
  const working = join(site.root, "queue");
  for (const [i, { text }] of sent.entries()) {
    if (text !== null)
      expect(await readFile(join(working, folderOf(site, numbers[i]!), "uploads", "object.txt"), "utf8")).toBe(text);
  }
  const left = (await readdir(working, { recursive: true })).filter(
    (name) => name.startsWith(".journaled") && name.endsWith("object.txt"),
  );
  expect(left).toEqual([]);
  const checked = checkInvariants({ logDir: zookeeper.logDir, root: zookeeper.root });
  expect(checked.violations.map(describeViolation)).toEqual([]);
  return numbers;
}
