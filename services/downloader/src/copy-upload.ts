import {
  type ContainedFolder,
  DigestMeter,
  digestMatches,
  type ExpectedDigest,
  failure,
  type IoFault,
  IoError,
  type Outcome,
  success,
  type UnfinishedFile,
} from "@sluice/safe-io";

export interface CopyOptions {
  readonly expectedDigest?: ExpectedDigest;
  readonly expectedBytes?: number;
  readonly signal: AbortSignal;
  readonly onProgress: (bytes: number) => void;
}

/** Copies an uploaded file under its own name, with the same promises as a download: whole and right, or not there. */
export async function copyUpload(
  uploads: ContainedFolder,
  uploadName: string,
  target: ContainedFolder,
  name: string,
  options: CopyOptions,
): Promise<Outcome<number>> {
  const source = await uploads.readStream(uploadName);
  if (!source.ok) return source;
  const file = await target.begin(name);
  if (!file.ok) {
    source.value.destroy();
    return file;
  }
  const copied = await pour(source.value, file.value, options);
  if (!copied.ok) {
    await file.value.abandon();
    return copied;
  }
  const finished = await file.value.finish();
  return finished.ok ? copied : finished;
}

async function pour(
  source: AsyncIterable<Uint8Array>,
  file: UnfinishedFile,
  options: CopyOptions,
): Promise<Outcome<number>> {
  const meter = new DigestMeter(options.expectedDigest === undefined ? [] : [options.expectedDigest.algorithm]);
  try {
    for await (const chunk of source) {
      if (options.signal.aborted) return failure({ code: "ABORTED", message: "given up", retryable: false });
      await file.handle.writeFile(chunk);
      meter.update(chunk);
      options.onProgress(meter.bytes);
    }
  } catch (error) {
    return failure(faultOf(error));
  }
  return judge(meter, options);
}

function judge(meter: DigestMeter, { expectedBytes, expectedDigest }: CopyOptions): Outcome<number> {
  if (expectedBytes !== undefined && expectedBytes !== meter.bytes) {
    const message = `${meter.bytes} bytes instead of ${expectedBytes}`;
    return failure({ code: "SIZE_MISMATCH", message, retryable: false });
  }
  if (expectedDigest === undefined) return success(meter.bytes);
  const digests = meter.digests();
  if (digestMatches(digests, expectedDigest)) return success(meter.bytes);
  const { algorithm, value } = expectedDigest;
  const message = `${algorithm} is ${digests[algorithm] ?? ""} instead of ${value}`;
  return failure({ code: "DIGEST_MISMATCH", message, retryable: false });
}

function faultOf(error: unknown): IoFault {
  if (error instanceof IoError) return error.fault;
  const code = typeof error === "object" && error !== null && "code" in error ? error.code : undefined;
  if (code === "ENOSPC" || code === "EDQUOT") return { code: "NO_SPACE", message: code, retryable: true };
  return { code: "IO_ERROR", message: typeof code === "string" ? code : String(error), retryable: true };
}
