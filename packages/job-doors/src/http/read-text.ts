/** A body that is text and no JSON. */
import { type Problem, problem } from "@sluice/http-api";

/** Up to a limit; the rest is not read. */
export async function readText(
  request: AsyncIterable<Buffer>,
  limitBytes: number,
): Promise<{ readonly text: string } | { readonly problem: Problem }> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request) {
    bytes += chunk.length;
    if (bytes > limitBytes)
      return { problem: problem("PAYLOAD_TOO_LARGE", `a body has at most ${limitBytes} bytes here`) };
    chunks.push(chunk);
  }
  return { text: Buffer.concat(chunks).toString("utf8") };
}
