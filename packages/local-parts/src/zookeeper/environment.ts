/**
 * ZOOKEEPER_CONNECT. A named server that does not answer gives way to the next way like any other, after a full minute
 * and in so many words: what is submitted then goes into the tree of the server that was started instead.
 */
import { connect } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { failed, NOT_SET, type Attempt, type Request, type Way } from "./types.ts";

const CONNECT_LIMIT_MS = 2_000;
const POLL_MS = 500;

export const fromEnvironment: Way = { name: "ZOOKEEPER_CONNECT", attempt };

async function attempt({ env, log }: Request, signal: AbortSignal): Promise<Attempt> {
  const address = env["ZOOKEEPER_CONNECT"];
  if (address === undefined || address === "") return failed(NOT_SET);
  const servers = parseServers(address);
  if (servers === null) return { ok: false, final: true, reason: `"${address}" is not host:port[,host:port…][/path]` };

  let toldSo = false;
  while (!signal.aborted) {
    const answers = await Promise.all(servers.map(accepts));
    if (answers.includes(true)) return { ok: true, server: named(address, env["ZOOKEEPER_LOG_DIR"]) };
    if (!toldSo) log(`ZOOKEEPER_CONNECT=${address} does not answer, waiting for it`);
    toldSo = true;
    await sleep(POLL_MS, null, { signal }).catch(() => null);
  }
  return failed(`${address} does not answer; going on without it`);
}

interface Server {
  readonly host: string;
  readonly port: number;
}

function parseServers(address: string): Server[] | null {
  const [servers = ""] = address.split("/");
  const parsed = servers.split(",").map((server) => /^(?<host>[^:\s]+|\[[^\]]+\]):(?<port>\d+)$/.exec(server)?.groups);
  const known = parsed.filter((groups) => groups !== undefined);
  if (known.length !== parsed.length) return null;
  return known.map((groups) => ({ host: groups["host"] ?? "", port: Number(groups["port"]) }));
}

const accepts = ({ host, port }: Server): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect({ host: host.replace(/^\[|\]$/g, ""), port });
    const finish = (answer: boolean): void => {
      socket.destroy();
      resolve(answer);
    };
    socket.setTimeout(CONNECT_LIMIT_MS, () => finish(false));
    socket.on("connect", () => finish(true));
    socket.on("error", () => finish(false));
  });

const named = (connectString: string, logDir: string | undefined) => ({
  connect: connectString,
  source: "environment" as const,
  ...(logDir === undefined ? {} : { logDir }),
  exited: new Promise<string>(() => undefined),
  kill: () => Promise.resolve(),
  stop: () => Promise.resolve(),
});
