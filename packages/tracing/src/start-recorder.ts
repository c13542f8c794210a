import type { Recorder, RecorderOptions } from "./record.ts";

/** Whoever has no collector does not load the software for one. */
export async function startRecorder(options: RecorderOptions | null): Promise<Recorder> {
  if (options === null) return { stop: () => Promise.resolve() };
  const { record } = await import("./record.ts");
  return record(options);
}
