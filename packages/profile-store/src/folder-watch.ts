import { type FSWatcher, watch } from "node:fs";

/**
 * Calls back when something in a folder may have changed: by file system events where there are any, and by a poll,
 * since network volumes announce nothing and a folder that is replaced takes its watcher along.
 */
export function watchFolder(folder: string, pollMs: number, onHint: () => void): () => void {
  let watcher: FSWatcher | null = null;
  const drop = (): void => {
    watcher?.close();
    watcher = null;
  };
  const arm = (): void => {
    try {
      watcher ??= watch(folder, { persistent: false }, onHint).on("error", drop);
    } catch {
      drop(); // not there yet: the poll goes on trying
    }
  };
  arm();
  const timer = setInterval(() => {
    arm();
    onHint();
  }, pollMs);
  timer.unref();
  return () => {
    clearInterval(timer);
    drop();
  };
}
