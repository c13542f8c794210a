/**
 * Processes that accept jobs in a journal of their own while nobody owns the shard. They number them from blocks that were
 * reserved for them, in increasing order, so the last id that was taken in says which are done: also of jobs that have
 * long ended and gone.
 */
import { blockOf, firstIdOf, lastIdOf } from "../ids.ts";
import { CREATES_PER_TRANSACTION, GUEST_NAME, JOBS_PER_SHARD, TRANSACTION_BYTES } from "../limits.ts";
import type { Guest, Job } from "../records.ts";
import type { IngestAdds, JournalledJob, ReserveIds } from "./commands.ts";
import { type Reply, reply } from "./views.ts";
import { newRecord } from "./create.ts";
import { isTooLarge } from "./data.ts";
import type { Shard } from "./shard.ts";
import { type Status, STATUS } from "./statuses.ts";
import { bytesOf } from "./written.ts";

const NEW_GUEST: Guest = { file: "", offset: 0, last: 0, blocks: [] };

export function reserveIds(shard: Shard, { guest: name }: ReserveIds): Reply {
  if (!GUEST_NAME.test(name)) return reply(STATUS.malformed("guest"));
  if (shard.journals.isBroken(name)) return reply(STATUS.brokenGuest);
  const guest = shard.journals.of(name) ?? NEW_GUEST;
  const block = shard.reserveBlock();
  shard.journals.put(name, { ...guest, blocks: [...unusedBlocks(guest, guest.last), block] });
  return reply(STATUS.ok, { kind: "block", first: firstIdOf(block), last: lastIdOf(block) });
}

export function ingestAdds(shard: Shard, command: IngestAdds, now: number): Reply {
  if (shard.journals.isBroken(command.guest)) return reply(STATUS.brokenGuest);
  const guest = withForgotten(shard, shard.journals.of(command.guest), command);
  if (guest === null) return reply(STATUS.unknownGuest);
  if (guest.last < command.after) return reply(STATUS.journalGap);
  const fresh = command.jobs.filter(({ id }) => id > guest.last);
  const problem = problemOf(shard, guest, fresh);
  if (problem !== null) return reply(problem);
  if (fresh.length > 0) takeIn(shard, command, { guest, fresh, now });
  return reply(STATUS.ok, { kind: "ids", ids: command.jobs.map(({ id }) => id), single: false });
}

/** With blocks that were reserved for it after the snapshot from which the tree was restored. Null: it has none here. */
function withForgotten(shard: Shard, guest: Guest | null, { jobs }: IngestAdds): Guest | null {
  const known = guest ?? NEW_GUEST;
  const shown = new Set(jobs.flatMap(({ id }) => (id > known.last ? blockOf(id) : [])));
  const forgotten = [...shown].filter((block) => !known.blocks.includes(block) && shard.journals.isForgotten(block));
  if (forgotten.length === 0) return guest;
  return { ...known, blocks: [...known.blocks, ...forgotten].sort((a, b) => a - b) };
}

function problemOf(shard: Shard, { blocks }: Guest, jobs: readonly JournalledJob[]): Status | null {
  if (shard.size + jobs.length > JOBS_PER_SHARD) return STATUS.full;
  if (jobs.length > CREATES_PER_TRANSACTION) return STATUS.malformed("jobs");
  let before = 0;
  for (const { id, job } of jobs) {
    if (!blocks.includes(blockOf(id))) return STATUS.unknownGuest;
    if (id <= before) return STATUS.malformed("jobs");
    // Only an owner can tell what these would be.
    if (job.unique || job.parent !== null || isTooLarge(job.data.text)) return STATUS.malformed("jobs");
    before = id;
  }
  return null;
}

interface Intake {
  readonly guest: Guest;
  readonly fresh: readonly JournalledJob[];
  readonly now: number;
}

function takeIn(shard: Shard, { guest: name, file, offset }: IngestAdds, { guest, fresh, now }: Intake): void {
  const parts = partsOf(
    fresh.map(({ id, tenant, at, job }): Fresh => [id, newRecord(shard, { tenant, job, mock: job.mock, at })]),
  );
  for (const [n, part] of parts.entries()) {
    const [last] = part.at(-1) ?? [guest.last];
    // How far the file was read counts with the last of its jobs; until then the ids say which are done.
    const place = n === parts.length - 1 ? { file, offset } : { file: guest.file, offset: guest.offset };
    if (n > 0) shard.cut();
    shard.journals.put(name, { ...place, last, blocks: unusedBlocks(guest, last) });
    for (const [id, record] of part)
      // A snapshot that was taken while the tree moved may have the job, and not yet how far its journal had come.
      if (shard.job(id) === null) shard.create(id, record, now);
  }
}

type Fresh = readonly [number, Job];

/** Each fits into one transaction. */
function partsOf(jobs: readonly Fresh[]): readonly (readonly Fresh[])[] {
  const parts: Fresh[][] = [];
  let bytes = Infinity;
  for (const each of jobs) {
    const own = bytesOf(each[1]);
    if (bytes + own > TRANSACTION_BYTES) {
      parts.push([]);
      bytes = 0;
    }
    parts.at(-1)?.push(each);
    bytes += own;
  }
  return parts;
}

const unusedBlocks = ({ blocks }: Guest, last: number): number[] => blocks.filter((block) => lastIdOf(block) > last);
