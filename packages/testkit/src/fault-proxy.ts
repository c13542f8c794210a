/** A TCP proxy in front of ZooKeeper whose faults are exact: it knows frames, and so which request loses what. */
import { once } from "node:events";
import { createServer, type Server } from "node:net";
import { freePort } from "@sluice/local-parts";
import type { OpcodeName } from "./opcodes.ts";
import { ProxyConnection } from "./proxy-connection.ts";
import type { ProxyMode, ProxyState, RequestFrame, RequestRule, Verdict } from "./proxy-types.ts";
import { parseConnect } from "./raw-session.ts";

export interface FaultProxy {
  /** For clients: like the target's, chroot included, but through the proxy. */
  readonly connect: string;
  /** How many requests of each kind came, swallowed ones too, all connections together. */
  readonly counts: ReadonlyMap<RequestFrame["opcode"], number>;
  setMode(mode: ProxyMode): Promise<void>;
  /** Each frame takes that much longer, both ways. 0 turns it off. */
  setDelay(ms: number): void;
  /** Asked for every request until replaced. */
  onRequest(rule: RequestRule): void;
  /** Does this to the next request of that kind and then stops; resolves when it has come. */
  onNext(opcode: OpcodeName, verdict: Verdict): Promise<RequestFrame>;
  /** Closes all connections now. New ones are welcome. */
  cut(): void;
  close(): Promise<void>;
}

const PASS: RequestRule = () => "pass";

export async function startFaultProxy(targetConnect: string): Promise<FaultProxy> {
  const { host, port: targetPort, chroot } = parseConnect(targetConnect);
  const state: ProxyState = { mode: "pass", delayMs: 0, rule: PASS, counts: new Map() };
  const connections = new Set<ProxyConnection>();
  const server = createServer((socket) => {
    const connection = new ProxyConnection(socket, { host, port: targetPort }, state);
    connections.add(connection);
    socket.on("close", () => connections.delete(connection));
  });
  const port = await freePort();
  await listen(server, port);
  const cut = (): void => connections.forEach((connection) => connection.cut());

  return {
    connect: `127.0.0.1:${port}${chroot}`,
    counts: state.counts,
    cut,
    setMode: async (mode) => {
      state.mode = mode;
      connections.forEach((connection) => connection.modeChanged());
      if (mode === "refuse") await closeServer(server, cut);
      else await listen(server, port);
    },
    setDelay: (ms) => void (state.delayMs = ms),
    onRequest: (rule) => void (state.rule = rule),
    onNext: (opcode, verdict) => nextOf(state, opcode, verdict),
    close: () => closeServer(server, cut),
  };
}

function nextOf(state: ProxyState, opcode: OpcodeName, verdict: Verdict): Promise<RequestFrame> {
  const before = state.rule;
  return new Promise((resolve) => {
    state.rule = (frame) => {
      if (frame.opcode !== opcode) return before(frame);
      state.rule = before;
      resolve(frame);
      return verdict;
    };
  });
}

async function listen(server: Server, port: number): Promise<void> {
  if (server.listening) return;
  server.listen(port, "127.0.0.1");
  await once(server, "listening");
}

async function closeServer(server: Server, cut: () => void): Promise<void> {
  const closed = server.listening ? once(server, "close") : Promise.resolve();
  if (server.listening) server.close();
  cut();
  await closed;
}
