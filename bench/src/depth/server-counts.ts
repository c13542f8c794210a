/** What the server has had to do until now, by its own count. */
import { fourLetterWord, type RunningZooKeeper } from "@sluice/local-parts";
import { parseConnect } from "@sluice/zookeeper";
import { cpuSeconds } from "../process-costs.ts";

export interface ServerCounts {
  readonly requests: number;
  readonly zxid: number;
  /** NaN where the server's process is not ours, or there is no /proc. */
  readonly cpuS: number;
}

export async function serverCounts({ connect, pid }: RunningZooKeeper): Promise<ServerCounts> {
  const port = parseConnect(connect).servers[0]?.port ?? 0;
  const said = (await fourLetterWord({ port, tls: null }, "srvr")) ?? "";
  const requests = Number(/^Received: (\d+)$/m.exec(said)?.[1]);
  const zxid = Number(/^Zxid: (0x[0-9a-f]+)$/m.exec(said)?.[1]);
  const cpuS = pid === undefined ? Number.NaN : await cpuSeconds(pid).catch(() => Number.NaN);
  return { requests, zxid, cpuS };
}
