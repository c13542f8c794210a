import type { FileHandle } from "node:fs/promises";

import { DigestMeter, type DigestName, type Digests } from "./digest-meter.ts";
import { faultOfDiskError } from "./disk/fault.ts";
import { writeAll } from "./disk/write-all.ts";
import type { Egress, RequestOptions } from "./egress/egress.ts";
import type { EgressResponse } from "./egress/response.ts";
import { type IoFault, IoError } from "./outcome.ts";
import { displayUrl } from "./secrets.ts";

export interface TransferOptions {
  readonly algorithms: readonly DigestName[];
  readonly maxBytes: number;
  readonly request?: Omit<RequestOptions, "signal" | "maxBytes" | "accepts">;
  readonly signal?: AbortSignal;
  readonly onProgress?: (bytes: number) => void;
}

/** Where a transfer stands after one attempt; the next one starts from it. */
export interface Transfer {
  readonly bytes: number;
  /** Absent while the transfer is not at its end. */
  readonly digests?: Digests;
  readonly contentType?: string;
  /** The answer said where it ends, so a missing byte would have been noticed. */
  readonly lengthProven: boolean;
  /** Made of parts from several answers. */
  readonly joined: boolean;
  /** Why it is not at its end. */
  readonly fault?: IoFault;
  readonly meter: DigestMeter;
  /** Strong, or absent: only a strong ETag proves that the rest belongs to what we have. */
  readonly etag?: string;
}

/** One attempt: the whole content, or its rest if `before` can be continued. */
export async function fetchInto(
  egress: Egress,
  url: string,
  handle: FileHandle,
  options: TransferOptions,
  before: Transfer | undefined,
): Promise<Transfer> {
  const resume =
    before?.etag !== undefined && before.bytes > 0 ? { etag: before.etag, bytes: before.bytes } : undefined;
  const response = await egress.get(url, requestOptions(options, resume));
  if (!response.ok) {
    // The rest that we asked for does not exist: the content has changed.
    const changed = resume !== undefined && response.error.status === 416;
    return changed ? stopped(undefined, options, wrongRange(url)) : stopped(before, options, response.error);
  }
  const answer = response.value;
  const start = resume === undefined ? 0 : startOf(answer, resume);
  if (start === undefined) {
    answer.discard();
    return stopped(undefined, options, wrongRange(url));
  }
  const meter = start > 0 && before !== undefined ? before.meter : new DigestMeter(options.algorithms);
  const fault = await pour(answer, handle, start, meter, options, displayUrl(url));
  return { ...standOf(answer, meter, start > 0), ...ending(fault, meter) };
}

function requestOptions(options: TransferOptions, resume: { etag: string; bytes: number } | undefined): RequestOptions {
  const range = resume === undefined ? {} : { range: `bytes=${resume.bytes}-`, "if-range": resume.etag };
  return {
    ...options.request,
    headers: { ...options.request?.headers, ...range },
    maxBytes: options.maxBytes - (resume?.bytes ?? 0),
    ...(options.signal === undefined ? {} : { signal: options.signal }),
  };
}

/** Where this answer's bytes belong: behind what we have, at the beginning, or nowhere. */
function startOf(answer: EgressResponse, resume: { etag: string; bytes: number }): number | undefined {
  if (answer.status !== 206) return 0;
  const [, first] = /^bytes (\d+)-/.exec(answer.headers.get("content-range") ?? "") ?? [];
  const same = strongEtag(answer) === resume.etag;
  return same && Number(first) === resume.bytes ? resume.bytes : undefined;
}

async function pour(
  answer: EgressResponse,
  handle: FileHandle,
  start: number,
  meter: DigestMeter,
  options: TransferOptions,
  place: string,
): Promise<IoFault | undefined> {
  try {
    await handle.truncate(start);
    for await (const chunk of answer.body) {
      await writeAll(handle, chunk, meter.bytes);
      meter.update(chunk);
      options.onProgress?.(meter.bytes);
    }
    return undefined;
  } catch (error) {
    return error instanceof IoError ? error.fault : faultOfDiskError(error, place);
  }
}

function standOf(answer: EgressResponse, meter: DigestMeter, joined: boolean): Transfer {
  const etag = strongEtag(answer);
  const contentType = answer.headers.get("content-type");
  return {
    bytes: meter.bytes,
    joined,
    lengthProven: answer.contentLength !== undefined || answer.headers.has("transfer-encoding"),
    meter,
    ...(etag === undefined ? {} : { etag }),
    ...(contentType === undefined ? {} : { contentType }),
  };
}

const ending = (fault: IoFault | undefined, meter: DigestMeter): Pick<Transfer, "fault" | "digests"> =>
  fault === undefined ? { digests: meter.digests() } : { fault };

/** Nothing new came; what we had is still good. */
const stopped = (before: Transfer | undefined, options: TransferOptions, fault: IoFault): Transfer => ({
  ...(before ?? { bytes: 0, joined: false, lengthProven: false, meter: new DigestMeter(options.algorithms) }),
  fault,
});

function strongEtag(answer: EgressResponse): string | undefined {
  const etag = answer.headers.get("etag");
  return etag?.startsWith('"') === true ? etag : undefined;
}

const wrongRange = (url: string): IoFault => ({
  code: "PROTOCOL_ERROR",
  message: `${displayUrl(url)}: the server sent another part than asked for`,
  retryable: true,
});
