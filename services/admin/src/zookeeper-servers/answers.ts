/** What servers say of themselves, as numbers under mntr's names. */

export interface ServerFacts {
  /** leader, follower, observer, standalone. */
  readonly mode: string;
  readonly numbers: ReadonlyMap<string, number>;
}

/** Null = an answer, but of a server that does not serve, or does not know the word. */
export function readMntr(answer: string): ServerFacts | null {
  const lines = answer.split("\n").flatMap((line) => {
    const [key, value] = line.split("\t");
    return key === undefined || value === undefined ? [] : [[key, value.trim()] as const];
  });
  const mode = lines.find(([key]) => key === "zk_server_state")?.[1];
  if (mode === undefined) return null;
  const numbers = lines.flatMap(([key, value]) =>
    Number.isFinite(Number(value)) ? [[key, Number(value)] as const] : [],
  );
  return { mode, numbers: new Map(numbers) };
}

/** Lines of srvr, each with the names that mntr has for its numbers. */
const SRVR_LINES: readonly (readonly [RegExp, readonly string[]])[] = [
  [/^Latency min\/avg\/max: ([\d.]+)\/([\d.]+)\/([\d.]+)$/m, ["zk_min_latency", "zk_avg_latency", "zk_max_latency"]],
  [/^Connections: (\d+)$/m, ["zk_num_alive_connections"]],
  [/^Outstanding: (\d+)$/m, ["zk_outstanding_requests"]],
  [/^Node count: (\d+)$/m, ["zk_znode_count"]],
];

/** The one word that every server answers unless it was told not to; it says less. */
export function readSrvr(answer: string): ServerFacts | null {
  const mode = /^Mode: (\w+)$/m.exec(answer)?.[1];
  if (mode === undefined) return null;
  const numbers = SRVR_LINES.flatMap(([pattern, names]) => {
    const found = pattern.exec(answer)?.slice(1) ?? [];
    return found.map((text, i) => [names[i] ?? "", Number(text)] as const);
  });
  return { mode, numbers: new Map(numbers) };
}
