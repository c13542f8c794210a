/** Requests that code behind the walls asks for: made here, to hosts that its handler declares and that the fleet may ask at all. */
import type { Egress } from "@sluice/safe-io";
import { frameOf, FrameReader, Question } from "./protocol.ts";

export interface WayOutPorts {
  readonly egress: Pick<Egress, "get" | "head" | "post">;
  /** host:port */
  readonly allowed: readonly string[];
  readonly signal: AbortSignal;
}

interface Line {
  on(event: "data", listener: (chunk: Buffer) => void): unknown;
  write(bytes: Buffer, written: () => void): unknown;
  destroy(): unknown;
}

const QUESTION_BYTES = 2 * 1024 * 1024;
const ANSWER_BYTES = 8 * 1024 * 1024;
/** At once, read answers not counted: one who asks for more waits for nobody's answer, and would fill our memory with them. */
const OPEN_MAX = 16;

/** Why it may not be asked; null: it may, if the fleet's own rules allow it. */
export function refusal(url: string, allowed: readonly string[]): string | null {
  if (!URL.canParse(url)) return "that is no URL";
  const { protocol, hostname, port } = new URL(url);
  if (protocol !== "http:" && protocol !== "https:") return `${protocol} is not http or https`;
  const place = `${hostname}:${port === "" ? (protocol === "https:" ? "443" : "80") : port}`;
  return allowed.includes(place) ? null : `${place} is not declared by this handler`;
}

export function openWayOut(line: Line, ports: WayOutPorts): void {
  const reader = new FrameReader(QUESTION_BYTES);
  let open = 0;
  line.on("data", (chunk) => {
    const frames = reader.take(chunk);
    if (frames === null) {
      line.destroy();
      return;
    }
    for (const frame of frames) {
      const question = Question.safeParse(frame);
      if (!question.success || open >= OPEN_MAX) {
        line.destroy();
        return;
      }
      open += 1;
      answer(question.data, ports)
        .catch((): Given => ({ error: "the request could not be sent" }))
        .then((given) => line.write(frameOf({ n: question.data.n, ...given }), () => (open -= 1)))
        .catch(() => line.destroy());
    }
  });
}

type Given =
  | { readonly error: string }
  | { readonly status: number; readonly headers: Readonly<Record<string, string>>; readonly body: string };

async function answer(question: Question, { egress, allowed, signal }: WayOutPorts): Promise<Given> {
  const refused = refusal(question.url, allowed);
  if (refused !== null) return { error: refused };
  const options = { headers: question.headers, signal, maxBytes: ANSWER_BYTES, accepts: () => true };
  const sent =
    question.method === "GET" || question.method === "HEAD"
      ? await egress[question.method === "GET" ? "get" : "head"](question.url, options)
      : await egress.post(question.url, {
          ...options,
          method: question.method,
          contentType: question.headers["content-type"] ?? "application/octet-stream",
          body: question.body ?? "",
        });
  if (!sent.ok) return { error: sent.error.message };
  const read = question.method === "HEAD" ? { ok: true as const, value: "" } : await sent.value.text();
  if (!read.ok) return { error: read.error.message };
  return { status: sent.value.status, headers: Object.fromEntries(sent.value.headers), body: read.value };
}
