/** Requests that no route ever sees, because they cannot be read: refused in the same words as the rest. */
import { randomUUID } from "node:crypto";
import type { Duplex } from "node:stream";

import { PROBLEM_MEDIA_TYPE, type Problem, problem, problemDocument } from "./problem.ts";

const UNREAD: Readonly<Record<string, Problem>> = {
  HPE_HEADER_OVERFLOW: problem("HEADERS_TOO_LARGE", "the headers of the request are larger than allowed"),
  ERR_HTTP_REQUEST_TIMEOUT: problem("REQUEST_TIMEOUT", "the request did not arrive in time"),
};
const NO_REQUEST = problem("MALFORMED_REQUEST", "this is no HTTP request that could be read");

export function refuseUnread(error: NodeJS.ErrnoException, socket: Duplex): void {
  if (error.code === "ECONNRESET" || !socket.writable) {
    socket.destroy();
    return;
  }
  const document = problemDocument(UNREAD[error.code ?? ""] ?? NO_REQUEST, randomUUID());
  const body = JSON.stringify(document);
  const lines = [
    `HTTP/1.1 ${document.status} ${document.title}`,
    "Connection: close",
    `Content-Type: ${PROBLEM_MEDIA_TYPE}`,
    `Content-Length: ${Buffer.byteLength(body)}`,
  ];
  socket.end(`${lines.join("\r\n")}\r\n\r\n${body}`);
}
