/** Owners on a real ZooKeeper, and clients that speak to whoever owns the shard now. */
import { later } from "@sluice/testkit";
import { connectSession, type Session } from "@sluice/zookeeper";
import { type OwnerPorts, ownShard, type ShardOwner } from "../../src/owner/owner.ts";
import { prepareQueue } from "../../src/owner/tree.ts";
import type { Command } from "../../src/shard/commands.ts";
import type { Reply, Taken } from "../../src/shard/views.ts";
import { isStatus } from "../../src/shard/params.ts";
import { readCommand } from "../../src/shard/request.ts";

export interface Process {
  readonly session: Session;
  own(
    ports?: Pick<OwnerPorts, "hooks" | "archive" | "archiveHooks" | "endedInTree" | "onMistake">,
  ): Promise<ShardOwner>;
  close(): Promise<void>;
}

export async function startProcess(connect: string, apiId: string, timeoutMs = 30_000): Promise<Process> {
  const session = await connectSession({ connect, timeoutMs });
  const prepared = await prepareQueue(session);
  if (!prepared.ok) throw new Error(prepared.problem);
  return {
    session,
    async own(ports = {}) {
      for (;;) {
        const owning = await ownShard(0, { session, apiId, later, ...ports });
        if (owning.ok) return owning.owner;
        // Two that take the shard at once: one of them is told to try again.
        if (!/^(BAD_VERSION|NO_NODE|NODE_EXISTS|UNKNOWN|NOT_SENT)/.test(owning.why)) throw new Error(owning.why);
      }
    },
    close: () => session.close(),
  };
}

export function command(verb: string, params: Readonly<Record<string, string | number>> = {}): Command {
  const fields = Object.fromEntries(Object.entries(params).map(([name, value]) => [name, String(value)]));
  const read = readCommand(verb, fields, { tenant: "default", caller: { kind: "worker", worker: "w" } });
  if (isStatus(read)) throw new Error(read.text);
  return read;
}

export const idOf = (reply: Reply | null): number => {
  if (reply?.content.kind !== "ids") throw new Error(`no id: ${reply?.status.text ?? "unknown"}`);
  return reply.content.ids[0]!;
};

export const takenOf = (reply: Reply | null): Taken | null =>
  reply?.content.kind === "taken" ? (reply.content.jobs[0] ?? null) : null;
