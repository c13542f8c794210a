import type { Watch } from "./port.ts";
import type { WatchedPath, WatchKind } from "./wire/requests.ts";
import type { WatchEvent } from "./wire/replies.ts";

const FIRED_BY: Record<WatchEvent["change"], readonly WatchKind[]> = {
  created: ["exists", "data"],
  data: ["data", "exists"],
  children: ["children"],
  deleted: ["data", "exists", "children"],
};

/** The watches that the server holds for us, by the server's paths. Each fires once. */
export class WatchTable {
  readonly #watches: Record<WatchKind, Map<string, Set<Watch>>> = {
    data: new Map(),
    exists: new Map(),
    children: new Map(),
  };

  add(kind: WatchKind, path: string, watch: Watch): void {
    const sameNode = this.#watches[kind].get(path);
    if (sameNode === undefined) this.#watches[kind].set(path, new Set([watch]));
    else sameNode.add(watch);
  }

  /** A watch runs in a microtask of its own: if it throws, it neither stops the other ones nor the connection. */
  fire(event: WatchEvent): void {
    for (const kind of FIRED_BY[event.change]) {
      const fired = this.#watches[kind].get(event.path);
      this.#watches[kind].delete(event.path);
      for (const watch of fired ?? []) queueMicrotask(watch);
    }
  }

  paths(): WatchedPath[] {
    return (["data", "exists", "children"] as const).flatMap((kind) =>
      [...this.#watches[kind].keys()].map((path) => ({ kind, path })),
    );
  }

  clear(): void {
    for (const watches of Object.values(this.#watches)) watches.clear();
  }
}
