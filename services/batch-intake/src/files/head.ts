import { IoError, type Outcome } from "@sluice/safe-io";
import { uploadName } from "@sluice/working-folder";
import type { Head, PayloadPlace } from "../ports.ts";
import { nameOfUrl } from "../submission/payload-name.ts";
import { failure, payloadFault, success } from "./fault.ts";
import type { PayloadFiles } from "./payloads.ts";

/** Where a manifest says what kind it is: within its first lines. */
export const HEAD_BYTES = 4_096;

/** The beginning of a payload, wherever it is. */
export async function headOf(files: PayloadFiles, place: PayloadPlace, signal: AbortSignal): Promise<Head> {
  const upload = uploadName(place.url);
  const name = upload ?? nameOfUrl(place.url);
  const bytes = upload === null ? await headOfUrl(files, place, signal) : await headOfUpload(files, place, upload);
  if (!bytes.ok) return payloadFault(bytes.error, "PAYLOAD_UNREADABLE");
  return { ok: true, name, text: bytes.value.toString("utf8") };
}

async function headOfUrl(
  { egress }: PayloadFiles,
  { url, profile }: PayloadPlace,
  signal: AbortSignal,
): Promise<Outcome<Buffer>> {
  // A server that knows no ranges sends all of it; it is hung up on after the head.
  const answer = await egress.get(url, { profile, signal, headers: { range: `bytes=0-${HEAD_BYTES - 1}` } });
  if (!answer.ok) return emptyIfNoRange(answer.error.status) ?? answer;
  try {
    return success(await firstBytes(answer.value.body));
  } catch (error) {
    if (error instanceof IoError) return failure(error.fault);
    throw error;
  } finally {
    answer.value.discard();
  }
}

/** 416: there is no first byte; the payload is empty. */
const emptyIfNoRange = (status: number | undefined): Outcome<Buffer> | null =>
  status === 416 ? success(Buffer.alloc(0)) : null;

async function headOfUpload(
  { working }: PayloadFiles,
  { batch }: PayloadPlace,
  name: string,
): Promise<Outcome<Buffer>> {
  const folder = await working.uploads(batch);
  if (!folder.ok) return folder;
  const stream = await folder.value.readStream(name);
  return stream.ok ? success(await firstBytes(stream.value)) : stream;
}

async function firstBytes(chunks: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const parts: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of chunks) {
    parts.push(chunk);
    bytes += chunk.byteLength;
    if (bytes >= HEAD_BYTES) break;
  }
  return Buffer.concat(parts).subarray(0, HEAD_BYTES);
}
