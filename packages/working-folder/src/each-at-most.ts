/**
 * Works on the items of a list of any length, so many at once and no further ahead. Begins nothing more when `work`
 * answers "stop"; returns when all that was begun has ended, and rejects, if it must, only then.
 */
export async function eachAtMost<T>(
  items: AsyncIterable<T> | Iterable<T>,
  atMost: number,
  work: (item: T) => Promise<"go-on" | "stop">,
): Promise<void> {
  const running = new Set<Promise<void>>();
  const state = { stopped: false, failures: [] as unknown[] };
  const run = async (item: T): Promise<void> => {
    try {
      if ((await work(item)) === "stop") state.stopped = true;
    } catch (error) {
      state.stopped = true;
      state.failures.push(error);
    }
  };
  for await (const item of items) {
    while (running.size >= atMost) await Promise.race(running);
    if (state.stopped) break;
    const one: Promise<void> = run(item).finally(() => running.delete(one));
    running.add(one);
  }
  await Promise.all(running);
  if (state.failures.length > 0) throw state.failures[0];
}
