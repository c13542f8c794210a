/** A multipart form as a stream: files of any size, and how far they are. */
import { type Answer, readAnswer } from "@sluice/client";
import { createReadStream } from "node:fs";
import { randomUUID } from "node:crypto";

export interface UploadFile {
  readonly path: string;
  readonly name: string;
  readonly bytes: number;
}

export interface Upload {
  readonly url: string;
  readonly token: string | null;
  readonly fields: Readonly<Record<string, string>>;
  readonly files: readonly UploadFile[];
  readonly idempotencyKey: string;
  readonly signal: AbortSignal;
  readonly onBytes: (sent: number) => void;
}

/** Quotes and line breaks as browsers write them. */
const quoted = (text: string): string => text.replaceAll("\r", "%0D").replaceAll("\n", "%0A").replaceAll('"', "%22");

const fieldPart = (boundary: string, name: string, value: string): string =>
  `--${boundary}\r\nContent-Disposition: form-data; name="${quoted(name)}"\r\n\r\n${value}\r\n`;
const fileHead = (boundary: string, { name }: UploadFile): string =>
  `--${boundary}\r\nContent-Disposition: form-data; name="file"; filename="${quoted(name)}"\r\nContent-Type: application/octet-stream\r\n\r\n`;

/** Fields before files: the intake decides early. */
async function* partsOf({ fields, files, onBytes }: Upload, boundary: string): AsyncGenerator<Uint8Array> {
  for (const [name, value] of Object.entries(fields)) yield Buffer.from(fieldPart(boundary, name, value));
  let sent = 0;
  for (const file of files) {
    yield Buffer.from(fileHead(boundary, file));
    for await (const bytes of contentOf(file)) {
      sent += bytes.length;
      onBytes(sent);
      yield bytes;
    }
    yield Buffer.from("\r\n");
  }
  yield Buffer.from(`--${boundary}--\r\n`);
}

/** What grows meanwhile is cut, what shrinks breaks the request off: the announced length is kept. */
async function* contentOf({ path, bytes }: UploadFile): AsyncGenerator<Uint8Array> {
  if (bytes === 0) return;
  for await (const chunk of createReadStream(path, { end: bytes - 1 })) yield chunk as Buffer;
}

function lengthOf({ fields, files }: Upload, boundary: string): number {
  const heads = Object.entries(fields).map(([name, value]) => fieldPart(boundary, name, value));
  const text = [...heads, ...files.map((file) => `${fileHead(boundary, file)}\r\n`), `--${boundary}--\r\n`].join("");
  return Buffer.byteLength(text) + files.reduce((sum, { bytes }) => sum + bytes, 0);
}

export async function sendForm<T>(upload: Upload): Promise<Answer<T>> {
  const boundary = `sluice-${randomUUID()}`;
  try {
    const response = await fetch(upload.url, {
      method: "POST",
      redirect: "error",
      signal: upload.signal,
      headers: {
        accept: "application/json",
        "content-type": `multipart/form-data; boundary=${boundary}`,
        "content-length": String(lengthOf(upload, boundary)),
        "idempotency-key": upload.idempotencyKey,
        ...(upload.token === null ? {} : { authorization: `Bearer ${upload.token}` }),
      },
      // A stream of known length is sent as it comes.
      body: ReadableStream.from(partsOf(upload, boundary)),
      duplex: "half",
    });
    return await readAnswer<T>(response);
  } catch (error) {
    const cause: unknown = (error as Error).cause;
    const why = cause instanceof Error && cause.message !== "" ? cause.message : (error as Error).message;
    return { ok: false, kind: "unreachable", why: `${upload.url} cannot be reached: ${why}` };
  }
}
