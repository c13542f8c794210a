/** How many runs have ended in the last minutes, from the newest that the archive names. */
import { JOBS } from "@sluice/wire";
import { count } from "../format.ts";
import { useAnswer } from "../load.ts";
import { useNow } from "../ui/bits.tsx";

const LOOKED_AT = 200;
const MINUTES = 10;

export function Rate({ tenant }: { readonly tenant: string }) {
  const runs = useAnswer(JOBS.listRuns, { params: { tenant }, query: { limit: LOOKED_AT } }, { everyMs: 10_000 });
  const now = useNow();
  if (runs.value === null) return <span class="quiet">–</span>;
  const since = now - MINUTES * 60_000;
  const recent = runs.value.items.filter(({ ended }) => Date.parse(ended) >= since).length;
  const more = recent === LOOKED_AT ? "more than " : "";
  return (
    <span title={`in the last ${MINUTES} minutes`}>
      {more}
      {count(recent)} in {MINUTES} min
    </span>
  );
}
