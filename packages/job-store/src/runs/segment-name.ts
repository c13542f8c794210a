/**
 * Where a segment of the archive stands: SHARD/DAY/START.WRITER.jsonl, and its index beside it. A segment has one writer, so
 * that two owners of a shard, one of which does not know yet that it is none, never write into the same file.
 */
import { join } from "node:path";

export interface Segment {
  readonly day: string;
  /** When it was begun, in ms. Of one writer no two are the same. */
  readonly start: number;
  readonly writer: string;
}

/** A place between two runs. */
export interface Place {
  readonly segment: Segment;
  readonly offset: number;
}

const RUNS = "jsonl";
const INDEX = "index";

export const shardFolder = (root: string, shard: number): string => join(root, String(shard).padStart(2, "0"));
export const isWriter = (name: string): boolean => /^[\w-]{1,100}$/.test(name);
export const isDay = (name: string): boolean => /^\d{4}-\d\d-\d\d$/.test(name);
export const dayOf = (ms: number): string => new Date(ms).toISOString().slice(0, 10);

export const runsPath = (folder: string, { day, start, writer }: Segment): string =>
  join(folder, day, `${start}.${writer}.${RUNS}`);
export const indexPath = (folder: string, { day, start, writer }: Segment): string =>
  join(folder, day, `${start}.${writer}.${INDEX}`);

/** Null for what is no segment's file of runs. */
export function parseSegment(day: string, name: string): Segment | null {
  const [, start, writer] = /^(\d{1,16})\.([\w-]{1,100})\.jsonl$/.exec(name) ?? [];
  return start === undefined || writer === undefined ? null : { day, start: Number(start), writer };
}

export const newestFirst = (a: Segment, b: Segment): number =>
  b.start - a.start || (a.writer < b.writer ? 1 : a.writer > b.writer ? -1 : 0);

export const isSame = (a: Segment, b: Segment): boolean => a.start === b.start && a.writer === b.writer;

export const printPlace = ({ segment: { day, start, writer }, offset }: Place): string =>
  `${day}/${start}.${writer}:${offset}`;

/** Null for what is no place: it comes from callers. */
export function parsePlace(raw: string): Place | null {
  const [, day, start, writer, offset] = /^(\d{4}-\d\d-\d\d)\/(\d{1,16})\.([\w-]{1,100}):(\d{1,12})$/.exec(raw) ?? [];
  if (day === undefined || start === undefined || writer === undefined || offset === undefined) return null;
  return { segment: { day, start: Number(start), writer }, offset: Number(offset) };
}
