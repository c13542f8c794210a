/** What is asked of Docker about images. */
import type Docker from "dockerode";
import { type ImagePorts, tooLarge } from "./images.ts";

/** It could not be done now, for reasons that are not the job's. */
export class EngineAway extends Error {}

export const statusOf = (error: unknown): number | undefined => (error as { readonly statusCode?: number }).statusCode;

export function imagePorts(docker: Docker, pullMs: number): Pick<ImagePorts, "find" | "pull" | "remove"> {
  return {
    async find(image) {
      try {
        const { Size, Config } = await docker.getImage(image).inspect();
        return {
          bytes: Size,
          volumes: volumesOf(Config),
        };
      } catch (error) {
        if (statusOf(error) === 404) return null;
        throw error;
      }
    },
    pull: (image, maxBytes) => pulled(docker, image, { maxBytes, signal: AbortSignal.timeout(pullMs) }),
    async remove(image) {
      try {
        await docker.getImage(image).remove({ force: false });
        return true;
      } catch (error) {
        if (statusOf(error) === 404) return true;
        if (statusOf(error) === 409) return false;
        throw error;
      }
    },
  };
}

/** None, for most images. */
const volumesOf = ({ Volumes }: { readonly Volumes?: object | null }): readonly string[] => Object.keys(Volumes ?? {});

interface PullBounds {
  readonly maxBytes: number;
  readonly signal: AbortSignal;
}

/** A registry that is away, or too slow, is not the job's fault; an image that is not there, or too large, is. */
async function pulled(docker: Docker, image: string, { maxBytes, signal }: PullBounds): Promise<void> {
  try {
    const progress = (await docker.pull(image, { abortSignal: signal })) as AsyncIterable<Uint8Array>;
    // Who leaves the loop early closes the connection, and the engine ends what nobody listens to any more.
    const verdict = await followed(progress, maxBytes);
    if (verdict === null) return;
    if (verdict === "too large") throw new TooLarge(tooLarge(image, maxBytes));
    throw new Error(verdict.failed);
  } catch (error) {
    if (error instanceof TooLarge || (statusOf(error) ?? 500) < 500) throw error;
    throw new EngineAway(`the image ${image} could not be fetched: ${wordsOf(error)}`);
  }
}

class TooLarge extends Error {}
const wordsOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** Null: it is all there. */
async function followed(
  progress: AsyncIterable<Uint8Array>,
  maxBytes: number,
): Promise<"too large" | { readonly failed: string } | null> {
  const layers = new LayerSizes();
  const decoder = new TextDecoder();
  let rest = "";
  for await (const chunk of progress) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) {
      const event = eventOf(line);
      // Once it has begun to answer, it has only this way to say that something went wrong.
      if (typeof event?.error === "string") return { failed: event.error };
      if (event !== null) layers.note(event);
    }
    if (layers.bytes > maxBytes) return "too large";
  }
  const last = eventOf(rest);
  return typeof last?.error === "string" ? { failed: last.error } : null;
}

interface PullEvent {
  readonly id?: unknown;
  readonly status?: unknown;
  readonly error?: unknown;
  readonly progressDetail?: { readonly total?: unknown } | null;
}

function eventOf(line: string): PullEvent | null {
  try {
    const event: unknown = JSON.parse(line);
    return typeof event === "object" ? event : null;
  } catch {
    return null;
  }
}

/** The layers of an image as they are fetched, still compressed. */
class LayerSizes {
  readonly #layers = new Map<string, number>();

  note({ id, status, progressDetail }: PullEvent): void {
    const total = progressDetail?.total;
    if (status === "Downloading" && typeof id === "string" && typeof total === "number") this.#layers.set(id, total);
  }

  get bytes(): number {
    return [...this.#layers.values()].reduce((sum, bytes) => sum + bytes, 0);
  }
}
