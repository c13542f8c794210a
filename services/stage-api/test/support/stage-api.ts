/** Whole stage-apis over a real tree, in this process, and a caller as another language would be one. */
import { mintToken, printTokenFile, type TokenRecord } from "@sluice/access";
import { readConfig, Service, silentLog } from "@sluice/stage-runtime";
import { waitFor } from "@sluice/testkit";
import { systemClock } from "@sluice/zookeeper";
import { randomBytes } from "node:crypto";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { stageApiConfig } from "../../src/config.ts";
import { stageApiService } from "../../src/stage-api-service.ts";

export interface TestStageApi {
  readonly url: string;
  readonly opsUrl: string;
  /** The first signal. */
  ring(): void;
  readonly ended: Promise<number>;
  stop(): Promise<void>;
}

const TIMES = { created: "", created_by: "test", expires: "2099-01-01T00:00:00Z" } as const;

function aToken(name: string, more: Pick<TokenRecord, "role" | "collections" | "stages">): [string, TokenRecord] {
  const { id, token, hash } = mintToken(randomBytes);
  return [token, { id, name, hash, ...more, ...TIMES }];
}

const TOKENS = {
  recorder: aToken("recorder", { role: "worker", collections: [], stages: ["recorder"] }),
  processor: aToken("processor", { role: "worker", collections: [], stages: ["processor"] }),
  all: aToken("all", { role: "worker", collections: [], stages: ["*"] }),
  none: aToken("none", { role: "worker", collections: [], stages: [] }),
  depositor: aToken("depositor", { role: "depositor", collections: ["*"] }),
  operator: aToken("operator", { role: "operator", collections: ["*"] }),
  admin: aToken("admin", { role: "admin", collections: ["*"] }),
} as const;
export type TokenName = keyof typeof TOKENS;
export const tokenFor = (name: TokenName): string => TOKENS[name][0];

/** For `AUTH_TOKENS_FILE`. */
export const tokensFile = (): string => printTokenFile(Object.values(TOKENS).map(([, record]) => record));

export async function startStageApi(
  connect: string,
  name = "stage-api",
  env: Readonly<Record<string, string>> = {},
): Promise<TestStageApi> {
  const dir = await mkdtemp(join(tmpdir(), "sluice-stage-api-"));
  const file = join(dir, "tokens.json");
  await writeFile(file, tokensFile());
  const read = readConfig(stageApiConfig, {
    ZOOKEEPER_CONNECT: connect,
    ZK_SESSION_TIMEOUT_MS: "20000",
    METRICS_PORT: "0",
    PORT: "0",
    WORKER_ID: name,
    STAGES: "processor recorder",
    AUTH: "on",
    AUTH_TOKENS_FILE: file,
    POLL_INTERVAL_MS: "100",
    SHUTDOWN_GRACE_MS: "20000",
    ...env,
  });
  if (!read.ok) throw new Error(read.problems.join("\n"));
  const urls: string[] = [];
  const options = stageApiService(read.config, { onListening: (url) => urls.push(url) });
  const host = { clock: systemClock, random: Math.random, log: silentLog(), probe: () => undefined };
  const service = new Service(options, host);
  const ended = service.run();
  const url = await waitFor(() => urls[0]);
  const opsUrl = await waitFor(() => service.opsUrl);
  await waitFor(async () => (await fetch(`${opsUrl}/readyz`)).ok);
  return {
    url,
    opsUrl,
    ring: () => service.ring(),
    ended,
    async stop() {
      service.ring();
      service.ring();
      await ended;
      await rm(dir, { recursive: true, force: true });
    },
  };
}

/** What an answer says, as far as these tests look at it. */
export interface Said {
  readonly status: number;
  readonly body: {
    readonly claim?: string | null;
    readonly job?: { readonly id: string; readonly uuid: string; readonly attempt: number } | null;
    readonly [key: string]: unknown;
  };
}

/** A caller of one stage. */
export class Caller {
  readonly #url: () => string;
  readonly #stage: string;
  readonly #worker: string;
  readonly #token: string;

  constructor(url: string | (() => string), worker = "java-1", stage = "recorder", token: TokenName = "all") {
    this.#url = typeof url === "string" ? () => url : url;
    this.#stage = stage;
    this.#worker = worker;
    this.#token = tokenFor(token);
  }

  async say(path: string, body: unknown, key?: string, signal?: AbortSignal): Promise<Said> {
    const response = await fetch(`${this.#url()}/v1/stages/${this.#stage}${path}`, {
      method: body === null ? "GET" : "POST",
      headers: {
        authorization: `Bearer ${this.#token}`,
        "content-type": "application/json",
        ...(key === undefined ? {} : { "idempotency-key": key }),
      },
      ...(body === null ? {} : { body: JSON.stringify(body) }),
      ...(signal === undefined ? {} : { signal }),
    });
    return { status: response.status, body: (await response.json()) as Said["body"] };
  }

  ask(more: object = {}, key?: string, signal?: AbortSignal): Promise<Said> {
    return this.say("/claims", { worker: this.#worker, wait_ms: 30_000, ...more }, key, signal);
  }

  /** A job that must come. */
  async take(
    more: object = {},
    key?: string,
  ): Promise<{ readonly claim: string; readonly job: NonNullable<Said["body"]["job"]> }> {
    const { status, body } = await this.ask(more, key);
    if (status !== 200 || typeof body.claim !== "string" || body.job == null)
      throw new Error(`no job: ${status} ${JSON.stringify(body)}`);
    return { claim: body.claim, job: body.job };
  }

  of(claim: string, word: string, body: object = {}): Promise<Said> {
    return this.say(`/claims/${claim}/${word}`, body);
  }

  look(claim: string): Promise<Said> {
    return this.say(`/claims/${claim}`, null);
  }
}
