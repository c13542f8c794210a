/** A recorder of one's own: takes jobs from Recording, writes them down, moves them on. Nothing here knows ZooKeeper. */
import { baseConfig, done, fail, parseConfig, retry, runService, snooze } from "@sluice/stage-runtime";
import { appendFile, readFile } from "node:fs/promises";

const config = parseConfig("recorder", baseConfig, process.env);
const ledger = process.env.LEDGER ?? "ledger.jsonl";

/** @type {import("@sluice/stage-runtime").JobStage} */
const recording = {
  kind: "job-stage",
  takes: "Recording",
  async handle(job, ctx) {
    const ark = job.identifiers?.primary_id;
    if (ark == null) return fail("RECORD_FAILED", "the object has no ARK");
    if (!(await ctx.lockObjects([{ kind: "inventory", ark }]))) return snooze(2_000, "the object is being recorded");
    try {
      // A handler may be run again: what is there already is not written twice.
      const known = await readFile(ledger, "utf8").catch(() => "");
      if (!known.includes(`"${job.uuid}"`)) {
        await appendFile(ledger, `${JSON.stringify({ job: job.uuid, ark, manifest: job.inventory?.manifest_url })}\n`);
      }
      return done();
    } catch (error) {
      return retry("RECORD_FAILED", String(error));
    }
  },
};

await runService({ service: "recorder", config, duties: [recording] });
