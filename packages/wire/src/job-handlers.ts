/** Handlers: what is run for the jobs of a type. */
import { z } from "zod";
import { time } from "./common.ts";

/** Every runner knows these; all others are interpreters that a runner's own settings name. */
export const HANDLER_LANGUAGES = ["node", "http", "container"] as const;
/** Of an interpreter too: php, python, … */
export const HandlerLanguage = z
  .string()
  .regex(/^[a-z][a-z0-9.+-]{0,31}$/, "node, http, container, or the name of an interpreter, such as php")
  .describe("node, http, container, or the name of an interpreter that runners have, such as php");
/** Of all that a handler consists of, as JSON: it stands in one node. */
export const HANDLER_BYTES = 60 * 1024;

const script = z.string().max(HANDLER_BYTES);

/** What its maker says about a handler. */
export const HandlerSpec = z
  .strictObject({
    lang: HandlerLanguage,
    eid: z.string().max(128).optional().describe("types of one tenant with the same eid may share a context"),
    before: script.optional().describe("run once per context"),
    beforeEach: script.optional().describe("run before each batch"),
    body: script
      .min(1)
      .describe(
        "node: a function's body; http: a URL; container: the image's configuration as JSON; an interpreter: its script",
      ),
    afterEach: script.optional().describe("run after each batch"),
    onFinish: z
      .string()
      .regex(/^[^\s,|/]{1,255}$/, "a type: no spaces, commas, bars or slashes")
      .optional()
      .describe("the type of a new job that is made with the result of each job that ends well and names none itself"),
    allow: z
      .strictObject({
        network: z
          .array(z.string().regex(/^[^\s:/]{1,253}:\d{1,5}$/, "host:port"))
          .max(32)
          .optional(),
        files: z.array(z.string().min(1).max(512)).max(32).optional().describe("folders that may be read"),
      })
      .optional()
      .describe("what may be reached; without it, nothing"),
    timeoutMs: z.int().min(100).max(86_400_000).optional(),
    memoryMb: z.int().min(16).max(65_536).optional(),
    batch: z.int().min(1).max(1_000).optional().describe("jobs that are handed over at once"),
    retry: z
      .strictObject({
        maxAgeMs: z.int().min(0).optional(),
        maxAttempts: z.int().min(1).optional(),
        delayMs: z.int().min(0).optional(),
      })
      .optional(),
  })
  .meta({ id: "HandlerSpec" });
export type HandlerSpec = z.infer<typeof HandlerSpec>;

/** A handler as it is kept. */
export const Handler = HandlerSpec.extend({
  id: z.string(),
  tenant: z.string(),
  type: z.string(),
  version: z.int().min(1),
  created: time,
  by: z.string(),
}).meta({ id: "Handler" });
export type Handler = z.infer<typeof Handler>;

/** In lists: without the code. */
export const HandlerSummary = Handler.pick({
  id: true,
  tenant: true,
  type: true,
  version: true,
  created: true,
  by: true,
  lang: true,
})
  .extend({ bytes: z.int().describe("of its body") })
  .meta({ id: "HandlerSummary" });
export type HandlerSummary = z.infer<typeof HandlerSummary>;
