/** Deposits of a drill: each one object with bytes of its own, and a ledger of what was answered 2xx. */
import { type HttpServer, serveHttp, waitFor } from "@sluice/testkit";
import { type BatchUuid, parseBatchUuid } from "@sluice/queue-core";
import { PROFILE, type Running } from "../fleet.ts";

export interface Deposit {
  /** Of its only file; no other deposit has it. */
  readonly name: string;
  readonly uuid: BatchUuid;
  /** The queue took it into its journal. */
  readonly journaled: boolean;
}

export interface Deposits {
  /** What was answered 2xx, in that order. */
  readonly accepted: readonly Deposit[];
  byUrl(intake: Running, name: string): Promise<Deposit>;
  byUpload(intake: Running, name: string): Promise<Deposit>;
  /** Whoever fetches this one gets nothing until `release` is called. */
  withhold(name: string): void;
  release(): void;
  close(): Promise<void>;
}

export const fileOf = (name: string): string => `${name}.txt`;
export const bytesOf = (name: string): Buffer => Buffer.from(`${name}\n`.repeat(1 + (name.length % 5) * 100));

export async function openDeposits(): Promise<Deposits> {
  const accepted: Deposit[] = [];
  const withheld = new Set<string>();
  let release: () => void = () => undefined;
  const released = new Promise<void>((resolve) => (release = resolve));
  const server: HttpServer = await serveHttp(({ method, path }, response) => {
    const name = decodeURIComponent(path.slice(1)).replace(/\.txt$/, "");
    const body = bytesOf(name);
    response.writeHead(200, { "content-length": body.length, etag: `"${name}"` });
    if (method === "HEAD") response.end();
    else void (withheld.has(name) ? released : Promise.resolve()).then(() => response.end(body));
  });
  const submit = async (intake: Running, name: string, init: RequestInit): Promise<Deposit> => {
    // An intake that has just lost its session may need a moment to see it: it says 503, and nothing is accepted.
    const answer = await waitFor(
      async () => {
        const said = await fetch(`${intake.url}/v1/batches`, { method: "POST", ...init });
        return said.status === 503 ? null : { status: said.status, body: await said.text() };
      },
      { what: `an answer to ${name}` },
    );
    if (answer.status !== 202) throw new Error(`${name}: ${answer.status} ${answer.body}`);
    const { id, bid } = JSON.parse(answer.body) as { readonly id: string; readonly bid: string | null };
    const deposit = { name, uuid: parseBatchUuid(id)!, journaled: bid === null };
    accepted.push(deposit);
    return deposit;
  };
  const fieldsOf = (name: string) => ({
    profile: PROFILE,
    submitter: "drill",
    type: "file",
    title: name,
    local_id: `local-${name}`,
  });
  return {
    accepted,
    byUrl: (intake, name) =>
      submit(intake, name, {
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ ...fieldsOf(name), payload_url: `${server.url}/${fileOf(name)}` }),
      }),
    byUpload(intake, name) {
      const body = new FormData();
      for (const [field, value] of Object.entries(fieldsOf(name))) body.set(field, value);
      body.set("file", new Blob([new Uint8Array(bytesOf(name))]), fileOf(name));
      return submit(intake, name, { body });
    },
    withhold: (name) => void withheld.add(name),
    release,
    close: () => server.close(),
  };
}
