/** A whole fleet, a depositor's server with any bytes, and a look at what became of what was submitted. */
import { readFile } from "node:fs/promises";
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import { type BatchId, listBucket, type JobView, readBatch, readJobs } from "@sluice/queue-core";
import { type HttpServer, type OwnZooKeeper, ownZooKeeper, serveHttp } from "@sluice/testkit";
import { connectSession, type Session } from "@sluice/zookeeper";
import { type Fleet, makeFleet, type Running } from "./fleet.ts";
import { OBSERVER_SESSION_MS, untilReported } from "./watch.ts";

export interface Verdict {
  /** Of the batch. */
  readonly status: string;
  /** Of the batch, or of its first failed job. */
  readonly message: string;
  readonly jobs: readonly JobView[];
}

export interface Deposits {
  readonly fleet: Fleet;
  readonly zookeeper: OwnZooKeeper;
  /** Serves these bytes; answers their URL. */
  serve(path: string, bytes: string | Buffer): string;
  submit(body: Readonly<Record<string, unknown>>): Promise<BatchId>;
  /** Waits for the report. */
  verdict(batch: BatchId): Promise<Verdict>;
  close(): Promise<void>;
}

export async function openDeposits(env: Readonly<Record<string, string>> = {}): Promise<Deposits> {
  const bodies = new Map<string, Buffer>();
  const [zookeeper, server] = await Promise.all([ownZooKeeper(), serveBytes(bodies)]);
  const fleet = await makeFleet({ zookeeper: zookeeper.connect, env });
  const [intake] = (await fleet.startAll()) as [Running];
  const session = await connectSession({ connect: zookeeper.connect, timeoutMs: OBSERVER_SESSION_MS });
  return {
    fleet,
    zookeeper,
    serve(path, bytes) {
      bodies.set(path, Buffer.from(bytes));
      return server.url + path;
    },
    submit: (body) => fleet.submit(intake, body),
    verdict: (batch) => verdictOn(session, batch),
    async close() {
      await session.close();
      await fleet.stop();
      await Promise.all([zookeeper.stop(), server.close()]);
    },
  };
}

const serveBytes = (bodies: ReadonlyMap<string, Buffer>): Promise<HttpServer> =>
  serveHttp(({ method, path }, response) => {
    const body = bodies.get(path);
    if (body === undefined) response.writeHead(404).end();
    else response.writeHead(200, { "content-length": body.length }).end(method === "HEAD" ? undefined : body);
  });

/** Waits for the report. */
export async function verdictOn(session: Session, batch: BatchId): Promise<Verdict> {
  const status = await untilReported(session, batch);
  const view = await readBatch(session, batch);
  const ids = await Promise.all(
    (["batch-failed", "batch-completed"] as const).map((bucket) => listBucket(session, batch, bucket)),
  );
  const views =
    (await readJobs(
      session,
      ids.flatMap((list) => list ?? []),
    )) ?? [];
  const jobs = views.flatMap((job) => (job.kind === "found" ? [job.value] : []));
  const failed = jobs.find((job) => job.status.status === "Failed");
  const own = view.kind === "found" ? view.value.status.message : "";
  return { status, message: failed?.status.message ?? own, jobs };
}

interface OcflInventory {
  readonly head: string;
  readonly manifest: Readonly<Record<string, readonly string[]>>;
  readonly versions: Readonly<Record<string, { readonly state: Readonly<Record<string, readonly string[]>> }>>;
}

/** What the store has of the depositor's files, read from the storage root itself: name to bytes. */
export async function storedFiles(job: JobView | undefined): Promise<ReadonlyMap<string, Buffer>> {
  const inventoryFile = fileURLToPath(job?.inventory?.manifest_url ?? "");
  const inventory = JSON.parse(await readFile(inventoryFile, "utf8")) as OcflInventory;
  const object = dirname(dirname(inventoryFile)); // the version's own inventory is one below
  const state = Object.entries(inventory.versions[inventory.head]?.state ?? {});
  const found = state.flatMap(([digest, names]) =>
    names
      .filter((name) => name.startsWith("producer/"))
      .map(async (name) => {
        const place = inventory.manifest[digest]?.[0] ?? "";
        return [name.slice("producer/".length), await readFile(`${object}/${place}`)] as const;
      }),
  );
  return new Map(await Promise.all(found));
}
