/** Two doors: SMTP for whoever sends, HTTP for whoever looks. */
import { createServer, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { SMTPServer } from "smtp-server";
import type { Mailbox } from "./mailbox.ts";

export interface Door {
  readonly port: number;
  close(): Promise<void>;
}

const MAIL_MAX_BYTES = 25_000_000;

export async function openSmtp(mailbox: Mailbox, host: string, port: number): Promise<Door> {
  const smtp = new SMTPServer({
    authOptional: true,
    disabledCommands: ["STARTTLS"],
    size: MAIL_MAX_BYTES,
    onData(stream, session, done) {
      const chunks: Buffer[] = [];
      stream.on("data", (chunk: Buffer) => chunks.push(chunk));
      stream.on("end", () => {
        if (stream.sizeExceeded) {
          done(new Error(`a mail has at most ${MAIL_MAX_BYTES} bytes`));
          return;
        }
        const { mailFrom, rcptTo } = session.envelope;
        const from = mailFrom === false ? "" : mailFrom.address;
        const to = rcptTo.map(({ address }) => address);
        const { id } = mailbox.put({ from, to, source: Buffer.concat(chunks).toString("utf8") });
        done(null, `kept as ${id}`);
      });
    },
  });
  // A client that resets its connection is no trouble of the server.
  smtp.on("error", () => undefined);
  const listening = await new Promise<AddressInfo>((resolve) => {
    const server = smtp.listen(port, host, () => resolve(server.address() as AddressInfo));
  });
  return { port: listening.port, close: () => new Promise((resolve) => smtp.close(() => resolve())) };
}

/** /messages, /messages/7 (as it came), and the two questions of a health check. */
export async function openHttp(mailbox: Mailbox, host: string, port: number): Promise<Door> {
  const server = createServer((request, response) => answer(mailbox, request.url ?? "/", response));
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject).listen(port, host, resolve);
  });
  return { port: (server.address() as AddressInfo).port, close: () => closed(server) };
}

function answer(mailbox: Mailbox, url: string, response: ServerResponse): void {
  const { pathname } = new URL(url, "http://catcher");
  const found = /^\/messages\/(\d{1,9})$/.exec(pathname);
  const mail = found === null ? null : mailbox.find(Number(found[1]));
  if (pathname === "/livez" || pathname === "/readyz") text(response, 200, "ok\n");
  else if (pathname === "/messages") {
    const messages = mailbox.list().map(({ id, from, to, subject }) => ({ id, from, to, subject }));
    response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify({ messages }));
  } else if (mail !== null) text(response, 200, mail.source);
  else text(response, 404, "there is /messages and /messages/ID\n");
}

/** A mail is a stranger's text: shown as text, whatever it says of itself. */
function text(response: ServerResponse, status: number, body: string): void {
  response.writeHead(status, { "content-type": "text/plain; charset=utf-8", "x-content-type-options": "nosniff" });
  response.end(body);
}

const closed = (server: Server): Promise<void> =>
  new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
