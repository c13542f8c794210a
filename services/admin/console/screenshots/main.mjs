/**
 * `npm run screenshots -- DATA`: fills the fleet that runs on DATA with believable deposits, and takes the pictures of
 * README and documents from it.
 */
import { makeClient } from "@sluice/client";
import { findTool } from "@sluice/local-parts";
import { ADMIN } from "@sluice/wire";
import { randomUUID } from "node:crypto";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { chromium } from "playwright-core";
import { serveHoldings } from "./content-server.mjs";
import { BATCHES, COLLECTIONS, HELD, QUEUED, RUN } from "./holdings.mjs";

const IMAGES = fileURLToPath(new URL("../../../../docs/images/", import.meta.url));
const data = process.argv[2] ?? "data";
const fleet = JSON.parse(await readFile(join(data, "fleet.json"), "utf8"));
const token = fleet.tokens?.admin;
const client = makeClient({ baseUrl: fleet.services.admin, ...(token === undefined ? {} : { token }) });

async function asked(endpoint, input) {
  const answer = await client.call(endpoint, input);
  if (!answer.ok) throw new Error(`${endpoint.id}: ${JSON.stringify(answer)}`);
  return answer.value;
}

async function until(what, look) {
  for (let i = 0; i < 600; i++) {
    const found = await look();
    if (found !== undefined && found !== null && found !== false) return found;
    await sleep(250);
  }
  throw new Error(`it never came: ${what}`);
}

async function writeProfiles() {
  const model = await readFile(join(data, "profiles", "sluice_demo_content"), "utf8");
  for (const [name, description] of Object.entries(COLLECTIONS)) {
    const profile = model
      .replace(/^#.*\n/, "")
      .replaceAll("sluice_demo_content", name)
      .replace(/^ProfileDescription: .*$/m, `ProfileDescription: ${description}`);
    await writeFile(join(data, "profiles", name), profile);
  }
}

async function submit({ profile, submitter, title, creator }, manifestUrl) {
  const response = await fetch(`${fleet.services["batch-intake"]}/v1/batches`, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      "idempotency-key": randomUUID(),
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
    },
    body: JSON.stringify({
      profile,
      submitter,
      title,
      creator,
      payload_url: manifestUrl,
      type: "single-file-batch-manifest",
    }),
  });
  const body = await response.text();
  const id = /\bbid\d{10}\b/.exec(body)?.[0];
  // A profile is known a moment after it was written.
  return response.ok ? id : /profile/i.test(body) ? null : Promise.reject(new Error(body));
}

async function fill() {
  await writeProfiles();
  const hold = { params: { name: HELD.collection }, body: { action: "hold", reason: HELD.reason } };
  await client.call(ADMIN.collectionAction, hold);
  const content = await serveHoldings(BATCHES);
  const send = (i) => until(BATCHES[i].title, () => submit(BATCHES[i], content.manifestUrl(i)));
  const ids = [];
  // The slow ones last: they would keep the others waiting.
  for (const [i, { files }] of BATCHES.entries()) {
    if (files.some(({ slow }) => slow))
      await until("the batch with missing files has failed", async () => {
        const { counts } = await asked(ADMIN.batch, { params: { id: ids[1] } });
        return counts.processing === 0 && counts.failed > 0;
      });
    ids.push(await send(i));
  }
  const failed = await asked(ADMIN.batchJobs, { params: { id: ids[1] }, query: { outcome: "failed" } });
  const moving = await until("a download says how far it is", async () => {
    const { items } = await asked(ADMIN.jobs, { query: { profile: "ucla_newsreels_content", state: "Downloading" } });
    const jobs = await Promise.all(items.map(({ jid }) => asked(ADMIN.job, { params: { id: jid } })));
    return jobs.find(({ progress }) => progress !== null);
  });
  return { content, pages: pagesOf(ids, failed.items[0].jid, moving.jid) };
}

/** The general queue's jobs of the same libraries. */
async function fillQueues() {
  const command = async (tenant, verb, body) => {
    const response = await fetch(`${fleet.services["job-api"]}/v1/tenants/${tenant}/commands/${verb}`, {
      method: "POST",
      headers: {
        "content-type": "application/json",
        ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      },
      body: JSON.stringify(body),
    });
    if (!response.ok) throw new Error(`${verb}: ${await response.text()}`);
    return response.json();
  };
  for (const { tenant, name, jobs, more } of QUEUED)
    for (const data of jobs) await command(tenant, "CreateJob", { name, data, ...more });
  for (const { tenant, name, worker, exitCode, result } of RUN) {
    const { jobID, lease } = await command(tenant, "GetJob", { name, worker, leaseMs: 600_000 });
    if (exitCode !== null) await command(tenant, "FinishJob", { jobID, lease, exitCode, result });
  }
}

const pagesOf = (ids, failedJob, movingJob) => ({
  home: "/",
  download: `/jobs/${movingJob}`,
  batch: `/batches/${ids[1]}`,
  job: `/jobs/${failedJob}`,
  jobs: "/jobs?state=Failed",
  queues: "/queues",
});

const VIEWS = [
  { suffix: "", colorScheme: "light", viewport: { width: 1360, height: 1000 } },
  { suffix: "-dark", colorScheme: "dark", viewport: { width: 1360, height: 1000 } },
  { suffix: "-phone", colorScheme: "light", viewport: { width: 390, height: 844 }, only: ["home", "batch"] },
];

async function take(pages) {
  const tool = await findTool("chromium", { env: "CHROMIUM", paths: ["google-chrome", "chromium-browser"] });
  if ("skip" in tool) throw new Error(tool.skip);
  const out = process.argv[3] ?? IMAGES;
  await mkdir(out, { recursive: true });
  const browser = await chromium.launch({ executablePath: tool.path, args: ["--no-sandbox"] });
  try {
    for (const { suffix, only, ...options } of VIEWS) {
      const context = await browser.newContext(options);
      if (token !== undefined) await context.request.post(`${fleet.services.admin}/login`, { data: { token } });
      const page = await context.newPage();
      for (const [name, path] of Object.entries(pages)) {
        if (only !== undefined && !only.includes(name)) continue;
        await page.goto(`${fleet.services.admin}${path}`);
        await page.locator("[data-line=live], [data-line=over]").first().waitFor();
        await page.locator("text=Loading …").first().waitFor({ state: "detached" });
        // Asked for apart from the rest, and there a moment later.
        if (name === "queues")
          await page
            .getByText(/[1-9]\d* in \d+ min/)
            .first()
            .waitFor();
        await page.screenshot({ path: join(out, `console-${name}${suffix}.png`), animations: "disabled" });
      }
      await context.close();
    }
  } finally {
    await browser.close();
  }
}

await fillQueues();
const { content, pages } = await fill();
try {
  await take(pages);
} finally {
  content.close();
}
