/** A job of the general queue: made over Bedrock's protocol, done by a handler that the runner calls. */
import { once } from "node:events";
import { createServer, type Server } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { z } from "zod";
import { until } from "./doors.ts";

export interface JobDoors {
  /** Of a job-api. */
  readonly url: string;
  /** On loopback, so that nobody needs a token there. */
  readonly bedrockPort: number;
  readonly token: string;
}

const TYPE = "smoke";
const RESULT = "as asked";
const LIMIT_MS = 180_000;

const Created = z.object({ jobID: z.int() });
const Job = z.object({ state: z.string(), exit: z.int().nullable() });
const Result = z.object({ exit: z.int().nullable(), result: z.string().nullable() });

/** Answers with its number. */
export async function runAJob(doors: JobDoors): Promise<number> {
  const handler = await startHandler();
  try {
    await ask(doors, `handlers/${TYPE}`, {
      method: "PUT",
      body: JSON.stringify({ lang: "http", body: `http://127.0.0.1:${portOf(handler)}/` }),
    });
    const { jobID } = Created.parse(JSON.parse(await createOverTcp(doors.bedrockPort)));
    await until(`job ${jobID} finished`, LIMIT_MS, async () => {
      return Job.parse(await ask(doors, `jobs/${jobID}`)).state === "FINISHED";
    });
    const ended = Result.parse(await ask(doors, `jobs/${jobID}/result`));
    if (ended.exit !== 200 || ended.result !== RESULT)
      throw new Error(`job ${jobID} ended with ${JSON.stringify(ended)}`);
    return jobID;
  } finally {
    handler.close();
    handler.closeAllConnections();
  }
}

const portOf = (server: Server): number => (server.address() as AddressInfo).port;

/** A line for each job, as handlers of kind http answer. */
async function startHandler(): Promise<Server> {
  const server = createServer((request, response) => {
    const lines = (request.headers["job-ids"] as string).split(",").map(() => `200 ${RESULT}\n`);
    request.resume().once("end", () => response.end(lines.join("")));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return server;
}

async function ask({ url, token }: JobDoors, path: string, init: RequestInit = {}): Promise<unknown> {
  const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
  const answer = await fetch(`${url}/v1/tenants/default/${path}`, { ...init, headers });
  const body = await answer.text();
  if (!answer.ok) throw new Error(`${path}: ${answer.status} ${body}`);
  return JSON.parse(body);
}

/** What `nc` would do; the content of the answer. */
async function createOverTcp(port: number): Promise<string> {
  const socket = connect(port, "127.0.0.1");
  try {
    socket.setEncoding("utf8").end(`CreateJob\r\nname: ${TYPE}\r\nConnection: close\r\n\r\n`);
    let said = "";
    for await (const part of socket) said += String(part);
    if (!said.startsWith("200")) throw new Error(`CreateJob over TCP: ${said}`);
    return said.slice(said.indexOf("\r\n\r\n") + 4);
  } finally {
    socket.destroy();
  }
}
