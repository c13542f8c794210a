/** Building blocks of a configuration. Values come from the environment, so all of them start as text. */
import { parseConnect } from "@sluice/zookeeper";
import { z } from "zod";

export interface Bounds {
  readonly min?: number;
  readonly max?: number;
}

export function wholeNumber({ min = 0, max = Number.MAX_SAFE_INTEGER }: Bounds = {}) {
  const message = `must be a whole number from ${min} to ${max}`;
  return z.coerce.number({ error: message }).int(message).min(min, message).max(max, message);
}

export function ratio() {
  const message = "must be a number from 0 to 1";
  return z.coerce.number({ error: message }).min(0, message).max(1, message);
}

export const port = () => wholeNumber({ min: 0, max: 65_535 });

const YES = ["true", "yes", "on", "1"];
const NO = ["false", "no", "off", "0"];

export function flag() {
  return z
    .union([z.boolean(), z.string()])
    .refine((raw) => typeof raw === "boolean" || [...YES, ...NO].includes(raw.toLowerCase()), {
      error: "must be true or false",
    })
    .transform((raw) => (typeof raw === "boolean" ? raw : YES.includes(raw.toLowerCase())));
}

/** A text that `parse` understands, as what it means. */
export function parsedText<T>(parse: (text: string) => T | null, expected: string) {
  return z.string().transform((text, ctx) => {
    const value = parse(text);
    if (value !== null) return value;
    ctx.addIssue({ code: "custom", message: `must be ${expected}` });
    return z.NEVER;
  });
}

/** A text that is taken as it is, unless something is wrong with it or with what it names. */
export function checkedText(problemOf: (text: string) => string | null) {
  return z.string().superRefine((text, ctx) => {
    const problem = problemOf(text);
    if (problem !== null) ctx.addIssue({ code: "custom", message: problem });
  });
}

/** Where another service of ours is: http://host:port, without path, query or password; as an origin. */
export const serviceUrl = () => parsedText(originOf, "an address like http://host:port");

/** With commas between them; at least one. */
export const serviceUrls = () =>
  parsedText((raw): readonly [string, ...string[]] | null => {
    const [first, ...others] = raw.split(",").map((each) => originOf(each.trim()));
    if (first == null || others.includes(null)) return null;
    return [first, ...others.filter((each) => each !== null)];
  }, "addresses like http://host:port,http://host:port");

function originOf(raw: string): string | null {
  const url = URL.canParse(raw) ? new URL(raw) : null;
  const isGood = url !== null && /^https?:$/.test(url.protocol) && url.username === "" && url.pathname === "/";
  return isGood && url.search === "" ? url.origin : null;
}

/** `host:port,host:port/chroot`; said to be wrong here, before anything tries to connect. */
export function zookeeperConnect() {
  return z.string({ error: "is required: host:port,host:port/chroot" }).superRefine((raw, ctx) => {
    try {
      parseConnect(raw);
    } catch (error) {
      ctx.addIssue({ code: "custom", message: error instanceof Error ? error.message : String(error) });
    }
  });
}
