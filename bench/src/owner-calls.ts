/** Commands to an owner, as texts. */
import { type Command, isStatus, readCommand, type Reply, type ShardOwner } from "@sluice/job-queue";

export const later = (ms: number, wake: () => void): (() => void) => {
  const timer = setTimeout(wake, ms);
  return () => clearTimeout(timer);
};

export function command(verb: string, fields: Readonly<Record<string, string>>): Command {
  const read = readCommand(verb, fields, { tenant: "default", caller: { kind: "worker", worker: "bench" } });
  if (isStatus(read)) throw new Error(read.text);
  return read;
}

export async function ask(
  owner: Pick<ShardOwner, "ask">,
  verb: string,
  fields: Readonly<Record<string, string>>,
): Promise<Reply> {
  const reply = await owner.ask(command(verb, fields));
  if (reply?.status.code !== 200) throw new Error(`${verb}: ${reply?.status.text ?? "unknown"}`);
  return reply;
}
