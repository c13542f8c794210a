/** What a worker's node says; the fields have the names that the etcd document gives them. */
import { z } from "zod";

export const WorkerEntrySchema = z.strictObject({
  Name: z.string(),
  InstanceId: z.string(),
  PrivateIp: z.string(),
  PublicIp: z.string(),
  /** The ids of the jobs that it runs, as text with commas, the oldest first; "" when idle. */
  Job: z.string(),
  /** ISO 8601; for people. Whether it is late is judged by the server's clock. */
  Heartbeat: z.string(),
  Stats: z.strictObject({
    /** Percent of all processors, 0 to 100. */
    Cpu: z.number().min(0).max(100),
    /** Percent of the machine's memory, 0 to 100. */
    Mem: z.number().min(0).max(100),
  }),
  Status: z.enum(["ALIVE", "DEAD"]),
  sysid: z.number().int().min(1),
  /** It runs the fleet's own jobs: whoever has a timer for the same leaves it to them. */
  System: z.literal(true).optional(),
  /** Of a dead one: its jobs have been given back, so that its entry may go. */
  released: z.literal(true).optional(),
});
export type WorkerEntry = Readonly<z.infer<typeof WorkerEntrySchema>>;
export type Stats = WorkerEntry["Stats"];

export const encodeEntry = (entry: WorkerEntry): Buffer => Buffer.from(JSON.stringify(entry));

/** Null: not one of ours, or broken; nobody harvests what they cannot read. */
export function decodeEntry(data: Buffer): WorkerEntry | null {
  try {
    return WorkerEntrySchema.parse(JSON.parse(data.toString("utf8")));
  } catch {
    return null;
  }
}
