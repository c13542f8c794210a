/** Bedrock's requests as far as their answers: the head, the body, and what the queue is asked for by them. */
import fc from "fast-check";

import { Conversation, Errands, printWireReply, RequestParser } from "@sluice/job-doors";

import { MemoryQueue } from "../../packages/job-doors/test/support/memory-queue.ts";
import { CHUNK, type FuzzTarget, inChunks } from "./fuzz-inputs.ts";

const VERBS = [
  ...["CreateJob", "CreateJobs", "GetJob", "GetJobs", "QueryJob", "FinishJob", "UpdateJob", "RetryJob", "FailJob"],
  ...[
    "CancelJob",
    "DeleteJob",
    "RequeueJobs",
    "CrashBedrockJob",
    "ClearCrashedBedrockJobs",
    "Query",
    "Status",
    "Dance",
  ],
];
const NAMES = [
  ...["name", "jobID", "data", "repeat", "firstRun", "jobs", "numResults", "query", "retryAfter", "parentJobID"],
  ...["Connection", "timeout", "commandExecuteTime", "priority", "unique", "delay", "nextRun", "fields", "jobPriority"],
];
const VALUES = [
  ...["a", "a/b/*", "*", "1", "-1", "1e9", "99999999999999999999", "0", "true", "", "{}", "[]", '{"a":[1,{"b":null}]}'],
  ...['[{"name":"a"},{"name":"a","data":{}}]', "wait", "forget", "SCHEDULED, +1 HOUR", "FINISHED, +1 MINUTE", "+1 DAY"],
  ...[
    "select * from jobs;",
    "2026-11-16 13:00:00",
    '{"__proto__":{"a":1}}',
    "[".repeat(200),
    "null",
    '"\\ud800"',
    "all",
  ],
];

const value = fc.oneof(fc.constantFrom(...VALUES), fc.json({ maxDepth: 4 }), fc.string({ maxLength: 30 }));
const fields = fc.array(fc.tuple(fc.constantFrom(...NAMES), value), { maxLength: 8 });
const request = fc
  .record({
    verb: fc.constantFrom(...VERBS),
    head: fields,
    body: fc.oneof(
      fc.constant(""),
      fields.map((pairs) => JSON.stringify(Object.fromEntries(pairs))),
      value,
    ),
  })
  .map(({ verb, head, body }) => requestOf(verb, head, body));

function requestOf(verb: string, head: readonly (readonly [string, string])[], body = ""): Buffer {
  const lines = head.map(([name, text]) => `${name}: ${text.replaceAll(/[\r\n]/g, " ")}`);
  const bytes = Buffer.byteLength(body);
  return Buffer.from([verb, ...lines, ...(bytes > 0 ? [`Content-Length: ${bytes}`] : []), "", body].join("\r\n"));
}

/** What is repeated within one value of a head, or within a body. */
const PIECES = [
  " ",
  ";",
  "a",
  "a,",
  "*",
  "a*",
  '{"a":',
  "[",
  "[],",
  "{},",
  '"a":1,',
  "\\",
  "+1 DAY,",
  "1",
  '"',
  "select ",
];

const growing = (bytes: number): readonly Buffer[] => {
  const long = (piece: string): string => piece.repeat(Math.ceil(bytes / piece.length));
  const job = ["name", "a"] as const;
  return PIECES.flatMap((piece) => [
    requestOf("Query", [["query", `select * from jobs${long(piece)}x`]]),
    requestOf("CreateJob", [job, ["data", long(piece)]]),
    requestOf("CreateJob", [job, ["repeat", long(piece)]]),
    requestOf("CreateJobs", [["jobs", `[${long(piece)}`]]),
    requestOf("GetJobs", [
      ["name", long(piece)],
      ["numResults", "1"],
    ]),
    requestOf("CreateJob", [job], `{"name":"a","data":[${long(piece)}`),
  ]).concat([
    requestOf("CreateJobs", [
      ["jobs", `[${Array.from({ length: bytes / 20 }, () => '{"name":"a/b/c/d/e"}').join(",")}]`],
    ]),
    requestOf("CreateJob", [], JSON.stringify({ name: "a", data: { a: Array.from({ length: bytes / 4 }, () => 1) } })),
  ]);
};

/** Nothing more comes: whoever would wait for jobs is answered at once. */
const OVER = AbortSignal.abort();
const OPEN = new AbortController().signal;

export const conversation: FuzzTarget = {
  name: "Bedrock's conversation",
  arbitrary: fc.array(request, { minLength: 1, maxLength: 6 }).map((requests) => Buffer.concat(requests)),
  async run(input) {
    const queue = new MemoryQueue();
    const errors: unknown[] = [];
    const onError = (error: unknown): void => void errors.push(error);
    const errands = new Errands(queue.later, { onError });
    const ports = { queue, errands, now: () => queue.now, later: queue.later, hear: () => undefined, onError };
    const peer = { name: "tcp fuzz", address: "127.0.0.1", isNear: true };
    const talk = new Conversation({ ...ports, admit: () => ({ tenant: "default" }) }, peer);
    const parser = new RequestParser();
    for (const item of inChunks(input, CHUNK).flatMap((chunk) => parser.push(chunk)))
      if (item.kind === "request")
        printWireReply(await talk.answer(item, { ended: OVER, closed: OPEN, admitted: () => null }));
    await errands.close();
    if (errors.length > 0) throw errors[0];
  },
  grows: growing,
};
