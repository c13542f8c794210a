/** Containers of every kind through the whole fleet to the store, and evil ones to a clear end. */
import { randomBytes } from "node:crypto";
import { gzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { checkInvariants, describeViolation } from "@sluice/testkit";
import { honestZip, type TarEntry, tarByHand, tarGz, zipByHand } from "../../packages/safe-io/test/evil-archives.ts";
import { type Deposits, openDeposits, storedFiles } from "../support/deposits.ts";

let deposits: Deposits;
beforeAll(async () => {
  deposits = await openDeposits({ UNPACK_RATIO_FLOOR_BYTES: "1000000" });
});
afterAll(() => deposits.close());

const FILES: Readonly<Record<string, string>> = { "a.txt": "hello", "deep/b.txt": "world!" };
const entries: readonly TarEntry[] = Object.entries(FILES).map(([name, content]) => ({ name, content }));

/** The same two files, by tar and bzip2 1.0.8. */
const TAR_BZ2 =
  "QlpoOTFBWSZTWaNiVYgAAIj7gMmAAEBgAfeAAQh2RN7ACEggAHQSkKP1RpgE0yfqjNI9qCSkNANAAGgD7koCA3YAE7UkIc3gsJgtucRkohDAGJmbfyKVwEOxAEGaQhI9spamhJRekIhrqNu+U5u0VKR0J0HHKDleBkIgci7kinChIUbEqxA=";
/** `notes` and a line break. */
const NOTES_BZ2 = "QlpoOTFBWSZTWZYd4xAAAAFBgAAQAgGMACAAMMAIY0FYXC7kinChISw7xiA=";

const GOOD: Readonly<Record<string, readonly [make: () => Promise<Buffer> | Buffer, files: typeof FILES]>> = {
  "d.zip": [() => honestZip(FILES), FILES],
  "d.tar": [() => tarByHand(entries), FILES],
  "d.tar.gz": [() => tarGz(entries), FILES],
  "d.tgz": [() => tarGz(entries), FILES],
  "d.tar.bz2": [() => Buffer.from(TAR_BZ2, "base64"), FILES],
  "table.csv.gz": [() => gzipSync("1,2\n"), { "table.csv": "1,2\n" }],
  "notes.txt.bz2": [() => Buffer.from(NOTES_BZ2, "base64"), { "notes.txt": "notes\n" }],
};

const sizeOf = (files: typeof FILES): number => Object.values(files).join("").length;
const textsOf = async (...args: Parameters<typeof storedFiles>): Promise<typeof FILES> =>
  Object.fromEntries([...(await storedFiles(...args))].map(([name, bytes]) => [name, bytes.toString("utf8")]));

describe("containers", () => {
  test("of every kind are stored as the files that were in them", async () => {
    const batches = await Promise.all(
      Object.entries(GOOD).map(async ([name, [make, files]]) => {
        const payload_url = deposits.serve(`/${name}`, await make());
        return { name, files, id: await deposits.submit({ payload_url, type: "container" }) };
      }),
    );
    for (const { name, files, id } of batches) {
      const { status, message, jobs } = await deposits.verdict(id);
      expect([name, status, message]).toEqual([name, "Completed", ""]);
      expect([name, await textsOf(jobs[0])]).toEqual([name, files]);
      expect([name, jobs[0]?.spaceNeeded]).toEqual([name, sizeOf(files)]);
    }
  });

  test("have names in UTF-8, and in ISO-8859-1 where they are none", async () => {
    const zip = zipByHand([
      { name: Buffer.from("caf\u00e9 1.txt", "latin1"), content: "latin" },
      { name: Buffer.from("caf\u00e9 2.txt", "utf8"), content: "utf8" },
    ]);
    const id = await deposits.submit({ payload_url: deposits.serve("/names.zip", zip), type: "container" });
    const { jobs } = await deposits.verdict(id);
    expect(await textsOf(jobs[0])).toEqual({ "caf\u00e9 1.txt": "latin", "caf\u00e9 2.txt": "utf8" });
  });

  test("come in a batch, and one that is evil fails alone", async () => {
    const good = deposits.serve("/good.zip", await honestZip(FILES));
    const evil = deposits.serve("/evil.zip", zipByHand([{ name: "../evil" }]));
    const row = (url: string, name: string): string => `${url} | | | | | ${name} | | | A. Maker | ${name} | 2026`;
    const manifest = [
      "#%checkm_0.7",
      "#%profile | http://uc3.cdlib.org/registry/ingest/manifest/mrt-container-batch-manifest",
      row(good, "good.zip"),
      row(evil, "evil.zip"),
      "#%eof",
    ].join("\n");
    const payload_url = deposits.serve("/batch.checkm", manifest);
    const id = await deposits.submit({ payload_url, type: "container-batch-manifest" });
    const { status, message, jobs } = await deposits.verdict(id);
    expect([status, jobs.map((job) => job.status.status)]).toEqual(["Failed", ["Failed", "Completed"]]);
    expect(message).toMatch(/^NAME_REFUSED: container\/evil\.zip: "\.\.\/evil": /);
    expect(await textsOf(jobs[1])).toEqual(FILES);
  });
});

const good = { name: "good.txt", content: "good" };
const EVIL: readonly (readonly [name: string, archive: Buffer, message: RegExp])[] = [
  ["slip.tar", tarByHand([good, { name: "../../evil" }]), /^NAME_REFUSED: .*"\.\.\/\.\.\/evil"/],
  ["absolute.zip", zipByHand([good, { name: "/etc/evil" }]), /^NAME_REFUSED: .*"\/etc\/evil"/],
  ["link.zip", zipByHand([good, { name: "link", content: "/", mode: 0o120777 }]), /^CONTAINER_REFUSED: .*"link".*link/],
  ["link.tar", tarByHand([good, { name: "link", type: "2", linkName: "/" }]), /^CONTAINER_REFUSED: .*"link".*link/],
  ["locked.zip", zipByHand([good, { name: "secret", flags: 1 }]), /^CONTAINER_REFUSED: .*"secret".*encrypted/],
  ["overlap.zip", zipByHand([good, { ...good, contentOf: 0 }]), /^CONTAINER_REFUSED: .*overlaps/],
  ["twice.tar.gz", tarGz([good, good]), /^CONTAINER_REFUSED: .*"good\.txt".*two entries/],
  ["bomb.tar.gz", gzipSync(Buffer.alloc(5_000_000)), /^CONTAINER_REFUSED: .*200 times/],
  ["bomb.txt.gz", gzipSync(Buffer.alloc(5_000_000)), /^CONTAINER_REFUSED: .*200 times/],
  ["cut.zip", zipByHand([good, { name: "b", content: randomBytes(900) }]).subarray(0, 500), /^CONTAINER_CORRUPT: /],
  ["cut.tar.bz2", Buffer.from(TAR_BZ2, "base64").subarray(0, 100), /^CONTAINER_CORRUPT: .*breaks off/],
  ["page.zip", Buffer.from("<html>not found</html>"), /^CONTAINER_CORRUPT: .*neither zip nor tar/],
];

test("evil and damaged containers end as Failed with the reason, while a neighbour completes", async () => {
  const batches = await Promise.all(
    EVIL.map(async ([name, archive, message]) => {
      const payload_url = deposits.serve(`/evil/${name}`, archive);
      return { name, message, id: await deposits.submit({ payload_url, type: "container" }) };
    }),
  );
  const payload_url = deposits.serve("/neighbour.zip", await honestZip(FILES));
  const neighbour = await deposits.submit({ payload_url, type: "container" });
  expect(await deposits.verdict(neighbour)).toMatchObject({ status: "Completed" });
  for (const { name, message, id } of batches) {
    const verdict = await deposits.verdict(id);
    expect([name, verdict.status]).toEqual([name, "Failed"]);
    expect(verdict.message).toMatch(message);
  }
});

test("every invariant held at every zxid", () => {
  const { logDir } = deposits.zookeeper;
  expect(checkInvariants({ logDir, root: "/" }).violations.map(describeViolation)).toEqual([]);
});
