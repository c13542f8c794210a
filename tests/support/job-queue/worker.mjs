/** A worker as a process of its own, with the client as it was built: it works by calling the ledger, until it is killed. */
import { openJobs } from "@sluice/job-client";

const [ledger, worker, tenants, ...urls] = process.argv.slice(2);
const jobs = openJobs({ urls, worker, renewMs: 1_000 });
const tell = (event) => process.stdout.write(`${event.kind} ${event.job?.jobID ?? event.why}\n`);

for (const tenant of tenants.split(","))
  jobs.work(
    ["work", "held"],
    async ({ name, jobID, lease }, { signal }) => {
      const headers = { "job-ids": String(jobID), "job-lease": lease };
      const answer = await fetch(`${ledger}/${name}`, { method: "POST", headers, signal });
      return answer.text();
    },
    { tenant, concurrency: 5, leaseMs: 4_000, pollMs: 2_000, onEvent: tell },
  );
