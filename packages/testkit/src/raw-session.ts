/**
 * A bare ZooKeeper session, without any guard of our own client: it writes whatever it is told, also unconditionally.
 * For setting tests up, for foreign writers, and for planting the faults that our client's types do not allow.
 */
import type { Answer, MultiAnswer, Node, Op, Refusal, Session, Stat } from "@sluice/zookeeper";
import { JuteReader, JuteWriter } from "./jute.ts";
import { OPCODE } from "./opcodes.ts";
import { FrameConnection, type Reply } from "./raw-frames.ts";

export interface RawSession extends Pick<Session, "id" | "close"> {
  readonly timeoutMs: number;
  get(path: string): Promise<Answer<Node>>;
  children(path: string): Promise<Answer<{ readonly names: readonly string[]; readonly stat: Stat }>>;
  multi(ops: readonly Op[]): Promise<MultiAnswer>;
  /** A request of its own, as clients without transactions send it. Answers with the path that was made. */
  create(path: string, data: Buffer, mode?: CreateMode): Promise<Answer<string>>;
  /** Whatever the version. */
  set(path: string, data: Buffer): Promise<Answer<null>>;
  remove(path: string): Promise<Answer<null>>;
  /** Leaves without a word, as a killed process does: the server ends the session after its timeout. */
  abandon(): void;
}

/** ZooKeeper's flags. */
const CREATE_MODES = { persistent: 0, ephemeral: 1, sequential: 2 } as const;
export type CreateMode = keyof typeof CREATE_MODES;

const DEFAULT_TIMEOUT_MS = 10_000;
const PERMISSION_ALL = 31;
const ANY_VERSION = -1;
const PASSWORD = Buffer.alloc(16);

const REFUSALS: Readonly<Record<number, Refusal>> = {
  [-8]: "BAD_ARGUMENTS",
  [-101]: "NO_NODE",
  [-102]: "NO_AUTH",
  [-103]: "BAD_VERSION",
  [-108]: "NO_CHILDREN_FOR_EPHEMERALS",
  [-110]: "NODE_EXISTS",
  [-111]: "NOT_EMPTY",
};

/** `connectString` as for other clients: host:port, with a chroot behind it if any. Only the first server is used. */
export async function openRawSession(
  connectString: string,
  options: { readonly timeoutMs?: number } = {},
): Promise<RawSession> {
  const { host, port, chroot } = parseConnect(connectString);
  const connection = new FrameConnection(host, port);
  const timeoutMs = options.timeoutMs ?? DEFAULT_TIMEOUT_MS;
  const hello = new JuteWriter().int(0).long(0n).int(timeoutMs).long(0n).buffer(PASSWORD).bool(false);
  const answer = new JuteReader(await connection.greet(hello.frame()));
  answer.int();
  const negotiatedMs = answer.int();
  const id = answer.long();
  const pings = setInterval(() => connection.ping(), negotiatedMs / 3).unref();
  const leave = (): void => {
    clearInterval(pings);
    connection.destroy();
  };
  const at = (path: string): string => (path === "/" && chroot !== "" ? chroot : `${chroot}${path}`);

  return {
    id,
    timeoutMs: negotiatedMs,
    abandon: leave,
    get: async (path) => readNode(await connection.request(OPCODE.getData, pathAndWatch(at(path)))),
    children: async (path) => readChildren(await connection.request(OPCODE.getChildren2, pathAndWatch(at(path)))),
    multi: async (ops) => readMulti(await connection.request(OPCODE.multi, writeMulti(ops, at)), ops),
    create: async (path, data, mode = "persistent") => {
      const request = writeCreate(new JuteWriter(), at(path), data, CREATE_MODES[mode]);
      const reply = await connection.request(OPCODE.create, request);
      return reply.error === 0
        ? { ok: true, value: reply.body.string().slice(chroot.length) }
        : fault(reply.error, path);
    },
    set: async (path, data) => {
      const request = new JuteWriter().string(at(path)).buffer(data).int(ANY_VERSION);
      return done(await connection.request(OPCODE.setData, request), path);
    },
    remove: async (path) =>
      done(await connection.request(OPCODE.delete, new JuteWriter().string(at(path)).int(ANY_VERSION)), path),
    close: async () => {
      await connection.request(OPCODE.closeSession, new JuteWriter()).catch(() => undefined);
      leave();
    },
  };
}

export function parseConnect(connectString: string): { host: string; port: number; chroot: string } {
  const match = /^([^:,/]+):(\d+)(?:,[^/]*)?(\/.*)?$/.exec(connectString);
  if (match === null) throw new Error(`not a connect string: ${connectString}`);
  return { host: match[1] ?? "", port: Number(match[2]), chroot: (match[3] ?? "").replace(/\/$/, "") };
}

const done = ({ error }: Reply, path: string): Answer<null> =>
  error === 0 ? { ok: true, value: null } : fault(error, path);

const writeCreate = (writer: JuteWriter, path: string, data: Buffer, flags: number): JuteWriter =>
  writer.string(path).buffer(data).int(1).int(PERMISSION_ALL).string("world").string("anyone").int(flags);

const pathAndWatch = (path: string): JuteWriter => new JuteWriter().string(path).bool(false);

function writeMulti(ops: readonly Op[], at: (path: string) => string): JuteWriter {
  const writer = new JuteWriter();
  for (const op of ops) {
    writer
      .int(OPCODE[op.op === "set" ? "setData" : op.op])
      .bool(false)
      .int(ANY_VERSION);
    if (op.op === "create") {
      writeCreate(writer, at(op.path), op.data, CREATE_MODES[op.ephemeral === true ? "ephemeral" : "persistent"]);
    } else {
      writer.string(at(op.path));
      if (op.op === "set") writer.buffer(op.data);
      writer.int(op.version ?? ANY_VERSION);
    }
  }
  return writer.int(OPCODE.error).bool(true).int(ANY_VERSION);
}

function readMulti(reply: Reply, ops: readonly Op[]): MultiAnswer {
  const { body } = reply;
  const stats: (Stat | null)[] = [];
  const errors: number[] = [];
  // On a refusal the server marks the multi itself as failed and lists each op's error, 0 before the culprit.
  for (let type = body.int(), done = body.bool(); !done; type = body.int(), done = body.bool()) {
    body.int();
    if (type === OPCODE.error) errors.push(body.int());
    if (type === OPCODE.create) body.string();
    stats.push(type === OPCODE.setData ? readStat(body) : null);
  }
  const index = errors.findIndex((error) => error !== 0);
  if (index === -1) return { ok: true, zxid: reply.zxid, stats };
  return { ...fault(errors[index] ?? 0, ops[index]?.path ?? ""), index };
}

function readNode(reply: Reply): Answer<Node> {
  if (reply.error !== 0) return fault(reply.error, "get");
  const data = Buffer.from(reply.body.buffer());
  return { ok: true, value: { data, stat: readStat(reply.body) } };
}

function readChildren(reply: Reply): Answer<{ names: string[]; stat: Stat }> {
  if (reply.error !== 0) return fault(reply.error, "children");
  const names = reply.body.vector(() => reply.body.string());
  return { ok: true, value: { names, stat: readStat(reply.body) } };
}

const fault = (error: number, detail: string) => ({
  ok: false as const,
  code: REFUSALS[error] ?? ("SERVER_ERROR" as const),
  detail: `${detail}: server code ${error}`,
});

function readStat(body: JuteReader): Stat {
  const czxid = body.long();
  const mzxid = body.long();
  const [ctime, mtime] = [body.time(), body.time()];
  const [version, cversion] = [body.int(), body.int()];
  body.int(); // aversion
  const ephemeralOwner = body.long();
  const [dataLength, numChildren] = [body.int(), body.int()];
  return { czxid, mzxid, pzxid: body.long(), ctime, mtime, version, cversion, ephemeralOwner, dataLength, numChildren };
}
