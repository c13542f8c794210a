/** Deposits, against a real intake over a real tree. */
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { testZooKeeper, waitFor } from "@sluice/testkit";
import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { makeSite, manifestOf, startIntake } from "../../../services/batch-intake/test/fleet-support.ts";
import { type Cleanups, makeCleanups } from "../../../services/batch-intake/test/support.ts";
import { type Played, sluice, type Stage } from "./support.ts";

let cleanups: Cleanups;
let root: string;
let url: string;
let contentUrl: string;

beforeEach(async () => {
  cleanups = makeCleanups();
  const zookeeper = await testZooKeeper();
  const site = await makeSite(cleanups, zookeeper, (request, response) => {
    response.end(
      request.url === "/batch.checkm"
        ? manifestOf(3)
        : request.url === "/wrong.checkm"
          ? manifestOf(1).replace("http://content", "gopher://content")
          : "content",
    );
  });
  ({ root, contentUrl } = site);
  url = await startIntake(cleanups, await site.settings());
});
afterEach(() => cleanups.run());

const ada = (line: string | readonly string[], stage: Stage = {}): Promise<Played> =>
  sluice(line, { cwd: root, ...stage, env: { SLUICE_INTAKE_URL: url, ...stage.env } });

interface Shown {
  readonly bid: string;
  readonly rows: number | null;
  readonly status: string;
  readonly title: string | null;
}
const look = async (bid: string): Promise<Shown> => (await (await fetch(`${url}/v1/batches/${bid}`)).json()) as Shown;

describe("files", () => {
  test("are uploaded with progress, as they are, and become one batch", async () => {
    const content = "x".repeat(300_000);
    await writeFile(join(root, "first.txt"), content);
    await writeFile(join(root, 'na"me.txt'), "");
    const { code, out, err } = await ada(
      ["submit", "first.txt", 'na"me.txt', "--profile", "demo_content", "--title", "Ünï"],
      { terminal: 80 },
    );
    expect([code, err]).toEqual([0, expect.stringContaining("300 kB/300 kB")]);
    const bid = /bid\d{10}/.exec(out)?.[0] ?? "";
    const batch = await waitFor(async () => {
      const seen = await look(bid);
      return seen.rows === 2 && seen;
    });
    expect(batch.title).toBe("Ünï");
    const folder = (await readdir(join(root, "queue"))).find((name) => name.startsWith(bid)) ?? "";
    expect(await readFile(join(root, "queue", folder, "uploads", "first.txt"), "utf8")).toBe(content);
  });

  test("sent again under their key make no second batch", async () => {
    await writeFile(join(root, "first.txt"), "hello");
    const line = "submit first.txt --profile demo_content --key k1 -o name";
    const [first, second] = [await ada(line), await ada(line)];
    expect([first.code, second.out]).toEqual([0, first.out]);
  });

  test("that are not there, are folders, or go to an unknown collection are refused before or with the field", async () => {
    await writeFile(join(root, "first.txt"), "hello");
    expect((await ada("submit none.txt --profile demo_content")).code).toBe(3);
    expect((await ada("submit profiles --profile demo_content")).code).toBe(64);
    expect((await ada("submit first.txt")).err).toContain("--profile");
    const wrong = await ada("submit first.txt --profile nothing_content");
    expect(wrong.code).toBe(64);
    expect(wrong.err).toMatch(/profile/);
    expect((await ada(`submit first.txt ${contentUrl}/a --profile demo_content`)).code).toBe(64);
    const dry = await ada("submit first.txt --profile demo_content --dry-run");
    expect([dry.code, dry.out]).toEqual([0, "would submit 1 file, 5 B, to demo_content\n"]);
    const listed = (await (await fetch(`${url}/v1/batches`)).json()) as { items: unknown[] };
    expect(listed.items).toEqual([]);
  });

  test("whose intake does not answer can be sent again under the key that is named", async () => {
    await writeFile(join(root, "first.txt"), "hello");
    const away = await ada("submit first.txt --profile demo_content", {
      env: { SLUICE_INTAKE_URL: "http://127.0.0.1:9" },
    });
    expect([away.code, away.err]).toEqual([1, expect.stringMatching(/add --key [\w-]{36}/)]);
  });
});

describe("addresses", () => {
  test("are submitted later by a job queue, where there is one; files are not", async () => {
    const line = ["submit", `${contentUrl}/batch.checkm`, "--profile", "demo_content", "--repeat", "DAILY"];
    const { code, err } = await ada(line);
    expect([code, err]).toEqual([expect.any(Number), expect.stringContaining("JOB_API_URL")]);
    expect(code).not.toBe(0);
    const dry = await ada([...line, "--first-run", "2038-01-01", "--dry-run", "-o", "json"]);
    expect(JSON.parse(dry.out)).toMatchObject({ repeat: "DAILY", firstRun: "2038-01-01" });
    await writeFile(join(root, "first.txt"), "hello");
    const files = await ada("submit first.txt --profile demo_content --first-run 2038-01-01");
    expect([files.code, files.err]).toEqual([64, expect.stringContaining("files cannot be submitted later")]);
  });

  test("of a manifest become its rows", async () => {
    const { code, out } = await ada(`submit ${contentUrl}/batch.checkm --profile demo_content -o json`);
    expect(code).toBe(0);
    const { bid } = JSON.parse(out) as { bid: string };
    await waitFor(async () => (await look(bid)).rows === 3);
  });

  test("of several objects become one batch", async () => {
    const { out } = await ada(`submit ${contentUrl}/a ${contentUrl}/b --profile demo_content -o name`);
    await waitFor(async () => (await look(out.trim())).rows === 2);
  });

  test("are watched until the batch is over: 2 if it failed, with what to do next", async () => {
    const { code, out, err } = await ada(`submit ${contentUrl}/wrong.checkm --profile demo_content --watch`);
    expect(code).toBe(2);
    expect(out).toMatch(/^bid\d{10} is Failed: .*MANIFEST_CORRUPT/);
    expect(err).toContain("Next: mend what the message names, and submit again");
  });

  test("are watched no longer than --timeout: 5", async () => {
    const { code, err } = await ada(`submit ${contentUrl}/batch.checkm --profile demo_content -w --timeout 1s`);
    expect([code, err]).toEqual([5, expect.stringContaining("it goes on")]);
  });
});
