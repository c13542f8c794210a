/** Small parts that the pages of the job queue share. */
import type { QueuedJob, QueueTenant, RunCode } from "@sluice/wire";
import { count } from "../format.ts";
import { Link } from "../router.tsx";
import { useSession } from "../session.tsx";
import { Badge, State, Time } from "../ui/bits.tsx";
import { repeatInWords, toneOfExit } from "./words.ts";

export const SYSTEM_TENANT = "system";

/** The fleet's own jobs are the admins' to change; the server says the same. */
export function useMayAct(): (tenant: string) => boolean {
  const { me } = useSession();
  return (tenant) => me.permissions.includes("use-jobs") && (tenant !== SYSTEM_TENANT || me.role === "admin");
}

export const jobAddress = ({ tenant, jobID }: Pick<QueuedJob, "tenant" | "jobID">): string =>
  `/queues/${encodeURIComponent(tenant)}/jobs/${jobID}`;

/** Those that there are, each a way to its jobs. */
export function Counts({ counts, tenant, name }: Pick<QueueTenant, "counts" | "tenant"> & { readonly name?: string }) {
  const there = Object.entries(counts).filter(([, n]) => n > 0);
  if (there.length === 0) return <span class="quiet">none</span>;
  return (
    <>
      {there.map(([state, n]) => (
        <span key={state}>
          <Link
            to={`/queues/${encodeURIComponent(tenant)}?state=${state}${name === undefined ? "" : `&name=${encodeURIComponent(name)}`}`}
          >
            <State of={state} /> {count(n)}
          </Link>{" "}
        </span>
      ))}
    </>
  );
}

/** With the word for why the run stopped; `code`: of a run that gave no exit code. */
export function Exit({ exit, code = null }: { readonly exit: number | null; readonly code?: RunCode | null }) {
  if (exit !== null)
    return (
      <Badge tone={toneOfExit(exit)}>
        {exit}
        {code === null ? "" : ` ${code}`}
      </Badge>
    );
  return <span class="quiet">{code ?? "–"}</span>;
}

export function When({ job }: { readonly job: Pick<QueuedJob, "state" | "nextRun"> }) {
  if (job.state !== "QUEUED" && job.state !== "RUNQUEUED") return <span class="quiet">–</span>;
  return job.nextRun === null ? <>never</> : <Time at={job.nextRun} />;
}

export const Repeats = ({ repeat }: { readonly repeat: string }) =>
  repeat === "" ? null : <span title={repeat}>{repeatInWords(repeat)}</span>;
