/** The single calls that CDL's Java library makes of ZooKeeper's client: no transaction, no version, one after the other. */
import { EMPTY } from "@sluice/queue-core";
import type { RawSession } from "../raw-session.ts";

export interface CdlCall {
  readonly op: "exists" | "get" | "children" | "create" | "set" | "delete";
  readonly path: string;
}

/** Told before each call. Whoever waits here holds the library up at that line; whoever throws ends it there. */
export type OnCall = (call: CdlCall) => Promise<void> | void;

/** What the Java client throws: the library lets it through to whoever called it. */
export class KeeperFault extends Error {
  readonly code: string;

  constructor(code: string, path: string) {
    super(`${code} ${path}`);
    this.code = code;
  }
}

export class CdlCalls {
  readonly session: RawSession;
  readonly #onCall: OnCall;

  constructor(session: RawSession, onCall: OnCall = () => undefined) {
    this.session = session;
    this.#onCall = onCall;
  }

  async exists(path: string): Promise<boolean> {
    await this.#onCall({ op: "exists", path });
    const node = await this.session.get(path);
    if (!node.ok && node.code !== "NO_NODE") throw new KeeperFault(node.code, path);
    return node.ok;
  }

  async text(path: string): Promise<string> {
    await this.#onCall({ op: "get", path });
    const node = await this.session.get(path);
    if (!node.ok) throw new KeeperFault(node.code, path);
    return node.value.data.toString("utf8");
  }

  async children(path: string): Promise<readonly string[]> {
    await this.#onCall({ op: "children", path });
    const listed = await this.session.children(path);
    if (!listed.ok) throw new KeeperFault(listed.code, path);
    return [...listed.value.names].sort();
  }

  async create(path: string, data = "", mode?: "ephemeral" | "sequential"): Promise<string> {
    await this.#onCall({ op: "create", path });
    const made = await this.session.create(path, data === "" ? EMPTY : Buffer.from(data), mode);
    if (!made.ok) throw new KeeperFault(made.code, path);
    return made.value;
  }

  async set(path: string, data: string): Promise<void> {
    await this.#onCall({ op: "set", path });
    const set = await this.session.set(path, Buffer.from(data));
    if (!set.ok) throw new KeeperFault(set.code, path);
  }

  /** A look, and then the delete of whatever is there by then. */
  async remove(path: string): Promise<void> {
    if (!(await this.exists(path))) return;
    await this.#onCall({ op: "delete", path });
    const gone = await this.session.remove(path);
    if (!gone.ok) throw new KeeperFault(gone.code, path);
  }

  /** Another one may be faster between the look and the create: then it looks again, so many times. */
  async createIfNeeded(path: string, triesMax = 1): Promise<void> {
    for (let left = triesMax; ; left--) {
      if (await this.exists(path)) return;
      try {
        await this.create(path);
        return;
      } catch (fault) {
        if (left <= 1 || !(fault instanceof KeeperFault) || fault.code !== "NODE_EXISTS") throw fault;
      }
    }
  }

  /** By looking first, and without telling an owner: nobody can see whose lock it is. */
  async lock(path: string): Promise<boolean> {
    try {
      if (await this.exists(path)) return false;
      return (await this.create(path, "", "ephemeral")) === path;
    } catch (fault) {
      if (fault instanceof KeeperFault) return false;
      throw fault;
    }
  }
}

/** `yyyy-MM-dd HH:mm:ss Z` of this moment. */
export const cdlNow = (): string => `${new Date().toISOString().slice(0, 19).replace("T", " ")} +0000`;
