/** A real SMTP server of a test: it takes every mail, unless the options say otherwise. */
import type { AddressInfo } from "node:net";
import { SMTPServer, type SMTPServerOptions } from "smtp-server";

export interface Delivered {
  readonly to: readonly string[];
  readonly source: string;
}

export interface MailServer {
  readonly url: string;
  readonly close: () => Promise<void>;
}

/** `take` hears of each mail before its sender is told that it was taken. */
export async function mailServer(
  take: (mail: Delivered) => void,
  options: SMTPServerOptions = {},
): Promise<MailServer> {
  const smtp = new SMTPServer({
    authOptional: true,
    disabledCommands: ["STARTTLS"],
    onData(stream, session, done) {
      const chunks: Buffer[] = [];
      stream.on("data", (chunk: Buffer) => chunks.push(chunk));
      stream.on("end", () => {
        const to = session.envelope.rcptTo.map(({ address }) => address);
        take({ to, source: Buffer.concat(chunks).toString("utf8") });
        done(null, "queued");
      });
    },
    ...options,
  });
  // A client that is killed resets its connection: that is no trouble of the server.
  smtp.on("error", () => undefined);
  const { port } = await new Promise<AddressInfo>((resolve) => {
    const listening = smtp.listen(0, "127.0.0.1", () => resolve(listening.address() as AddressInfo));
  });
  return {
    // It has no certificate that anybody trusts, and speaks no TLS unless the options say so.
    url: `smtp://127.0.0.1:${port}?requireTLS=false`,
    close: () => new Promise<void>((resolve) => smtp.close(resolve)),
  };
}
