/** Requests that no route ever sees whole: refused in the same words as the rest. */
import { randomUUID } from "node:crypto";
import type { ServerResponse } from "node:http";
import type { Duplex } from "node:stream";

import { PROBLEM_MEDIA_TYPE, type Problem, problem, problemDocument } from "./problem.ts";

const UNREAD: Readonly<Record<string, Problem>> = {
  HPE_HEADER_OVERFLOW: problem("HEADERS_TOO_LARGE", "the headers of the request are larger than allowed"),
  ERR_HTTP_REQUEST_TIMEOUT: problem("REQUEST_TIMEOUT", "the request did not arrive in time"),
};
const NO_REQUEST = problem("MALFORMED_REQUEST", "this is no HTTP request that could be read");
const STALLED = problem("REQUEST_TIMEOUT", "the body stopped coming, or came too slowly; send it again");

/** How long the other side has to take the answer. */
const FAREWELL_MS = 1_000;

export function refuseUnread(error: NodeJS.ErrnoException, socket: Duplex): void {
  if (error.code === "ECONNRESET" || !socket.writable) {
    socket.destroy();
    return;
  }
  socket.end(answerOf(UNREAD[error.code ?? ""] ?? NO_REQUEST));
}

/** What the client sends meanwhile is read and thrown away, else it would lose our answer with its connection. */
export function refuseConnection(found: Problem, socket: Duplex): void {
  socket.on("error", () => undefined);
  socket.end(answerOf(found));
  socket.resume();
  setTimeout(() => socket.destroy(), FAREWELL_MS).unref();
}

/** Its handler learns that the client has gone. An answer that was begun is broken off. */
export function refuseStalled(response: ServerResponse, socket: Duplex): void {
  if (response.headersSent || !socket.writable) socket.destroy();
  else refuseConnection(STALLED, socket);
}

function answerOf(found: Problem): string {
  const document = problemDocument(found, randomUUID());
  const body = JSON.stringify(document);
  const lines = [
    `HTTP/1.1 ${document.status} ${document.title}`,
    "Connection: close",
    `Content-Type: ${PROBLEM_MEDIA_TYPE}`,
    `Content-Length: ${Buffer.byteLength(body)}`,
    ...(found.retryAfterSeconds === undefined ? [] : [`Retry-After: ${Math.ceil(found.retryAfterSeconds)}`]),
  ];
  return `${lines.join("\r\n")}\r\n\r\n${body}`;
}
