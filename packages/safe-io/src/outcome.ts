export const FAULT_CODES = {
  // network
  EGRESS_REFUSED: "our own rules forbid this address, scheme or port",
  DNS_FAILED: "the host name could not be resolved",
  CONNECT_FAILED: "no connection to the host",
  TLS_FAILED: "the host's certificate was not accepted",
  CONNECTION_LOST: "the connection ended too early",
  TIMEOUT: "the host took too long",
  ABORTED: "we gave up ourselves",
  HTTP_STATUS: "the host answered with an error",
  PROTOCOL_ERROR: "the host does not speak proper HTTP",
  TOO_MANY_REDIRECTS: "the host redirected too often",
  TOO_LARGE: "more bytes than allowed",
  // content
  SIZE_MISMATCH: "another size than announced",
  DIGEST_MISMATCH: "another digest than announced",
  ARCHIVE_CORRUPT: "the container is damaged, or of no kind that we know",
  ARCHIVE_REFUSED: "the container holds something that we do not unpack",
  ARCHIVE_TIMEOUT: "the container takes too long to unpack",
  // disk
  NAME_REFUSED: "the name could leave its folder or cannot be stored",
  LINK_REFUSED: "a link stands in the way",
  NOT_FOUND: "it is not there",
  ALREADY_THERE: "something is already there",
  NO_SPACE: "the volume is full",
  IO_ERROR: "the disk failed",
} as const;

export type FaultCode = keyof typeof FAULT_CODES;

/** Why something at the edge did not work. The message is for people and never holds a query string or a password. */
export interface IoFault {
  readonly code: FaultCode;
  readonly message: string;
  /** The same call may succeed later. */
  readonly retryable: boolean;
  /** The HTTP status, for HTTP_STATUS. */
  readonly status?: number;
  /** When the host asked to be tried again. */
  readonly retryAfterMs?: number;
}

export type Outcome<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly error: IoFault };

export const success = <T>(value: T): Outcome<T> => ({ ok: true, value });

export const failure = (error: IoFault): { readonly ok: false; readonly error: IoFault } => ({ ok: false, error });

/** For streams, which can only throw: carries the fault to whoever reads. */
export class IoError extends Error {
  readonly fault: IoFault;

  constructor(fault: IoFault) {
    super(fault.message);
    this.name = "IoError";
    this.fault = fault;
  }
}
