/** what journals brought in. Their cursors only grow, each with the jobs of its lines, and nobody else uses their ids. */
import { blockOf, lastIdOf } from "../ids.ts";
import type { Guest } from "../records.ts";
import type { ShardModel } from "./model.ts";

export interface GuestStep {
  readonly before: ReadonlyMap<string, Guest>;
  readonly nextBefore: number;
  /** Ids of the jobs that the transaction made. */
  readonly made: readonly number[];
}

export function guestFindings(shard: ShardModel, step: GuestStep): readonly string[] {
  const names = new Set([...step.before.keys(), ...shard.guests.keys()]);
  return [...names].flatMap((name) => {
    const before = step.before.get(name) ?? null;
    const after = shard.guests.get(name) ?? null;
    if (after === null) return [`journal ${name} is gone`];
    return [...cursorFindings(name, before, after, step, shard), ...blockFindings(name, before, after, step, shard)];
  });
}

function cursorFindings(
  name: string,
  before: Guest | null,
  after: Guest,
  { made }: GuestStep,
  { jobs }: ShardModel,
): readonly string[] {
  const last = before?.last ?? 0;
  const findings: string[] = [];
  if (after.last < last) findings.push(`journal ${name} went back from ${last} to ${after.last}`);
  if (after.last > last && !made.includes(after.last) && !jobs.has(after.last))
    findings.push(`journal ${name} passed ${after.last}, unmade`);
  const own = new Set([...(before?.blocks ?? []), ...after.blocks]);
  for (const id of made) {
    if (own.has(blockOf(id)) && (id <= last || id > after.last))
      findings.push(`job ${id} made between ${last} and ${after.last} of journal ${name}`);
  }
  return findings;
}

function blockFindings(
  name: string,
  before: Guest | null,
  after: Guest,
  { before: all, nextBefore }: GuestStep,
  { ids, floor }: ShardModel,
): readonly string[] {
  const known = before?.blocks ?? [];
  const isNew = (block: number): boolean => nextBefore <= block && block < ids.next;
  // Given before the tree was restored, and nobody else's.
  const isForgotten = (block: number): boolean =>
    block < floor && ![...all.values()].some(({ blocks }) => blocks.includes(block));
  const stolen = after.blocks.filter((block) => !known.includes(block) && !isNew(block) && !isForgotten(block));
  const lost = known.filter((block) => !after.blocks.includes(block) && lastIdOf(block) > after.last);
  return [
    ...stolen.map((block) => `journal ${name} was given block ${block}, which was not free`),
    ...lost.map((block) => `journal ${name} lost block ${block}`),
  ];
}
