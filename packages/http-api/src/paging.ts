/** Lists in pages: a cursor says where the last page ended, and means nothing to anybody but us. */
import type { Request } from "express";
import { z } from "zod";

import { type Problem, problem } from "./problem.ts";
import type { Reply } from "./reply.ts";

export const PAGE_LIMIT_MAX = 200;
export const PAGE_LIMIT_DEFAULT = 50;
const CURSOR_MAX = 512;

export interface CursorOf<S extends z.ZodType> {
  /** Reads a cursor of this list; any other text is a wrong field. */
  readonly schema: z.ZodType<z.output<S>>;
  readonly print: (position: z.input<S>) => string;
}

/** `list` keeps the cursors of different lists apart; `position` is what this one needs to go on. */
export function cursorOf<S extends z.ZodType>(list: string, position: S): CursorOf<S> {
  const envelope = z.object({ list: z.literal(list), at: z.unknown() });
  const schema = z
    .string()
    .max(CURSOR_MAX)
    .transform((text, ctx): z.output<S> => {
      const mine = envelope.safeParse(parsed(text));
      const at = mine.success ? position.safeParse(mine.data.at) : null;
      if (at?.success === true) return at.data;
      ctx.addIssue({ code: "custom", message: "is not a cursor of this list: take next_cursor of a page, or none" });
      return z.NEVER;
    });
  return { schema, print: (at) => Buffer.from(JSON.stringify({ list, at })).toString("base64url") };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(Buffer.from(text, "base64url").toString("utf8")) as unknown;
  } catch {
    return undefined;
  }
}

/** Of a cursor that came as a text: where to go on; undefined = from the beginning. */
export function readCursor<T>(
  cursor: { readonly schema: z.ZodType<T> },
  raw: string | undefined,
): { readonly at: T | undefined } | { readonly problem: Problem } {
  if (raw === undefined) return { at: undefined };
  const parsed = cursor.schema.safeParse(raw);
  if (parsed.success) return { at: parsed.data };
  const detail = parsed.error.issues[0]?.message ?? "is no cursor";
  return { problem: problem("INVALID_REQUEST", "the cursor is wrong", { errors: [{ field: "cursor", detail }] }) };
}

/** The two query parameters that every list has. */
export const pageFields = <S extends z.ZodType>(cursor: CursorOf<S>) => ({
  limit: z.coerce
    .number("expected a whole number")
    .int()
    .min(1)
    .max(PAGE_LIMIT_MAX)
    .default(PAGE_LIMIT_DEFAULT)
    .describe("at most so many items"),
  cursor: cursor.schema.optional().describe("next_cursor of the page before"),
});

export const pageSchema = <S extends z.ZodType>(item: S) =>
  z.object({
    items: z.array(item),
    next_cursor: z
      .string()
      .nullable()
      .describe(
        "where the next page begins; null = this was the last. A page may be short, even empty, and not the last",
      ),
  });

/** A page as a reply, with the next one in the Link header (RFC 8288). */
export function pageReply(request: Request, items: readonly unknown[], next: string | null): Reply {
  const body = { items, next_cursor: next };
  if (next === null) return { status: 200, body };
  const url = new URL(request.originalUrl, "http://localhost");
  url.searchParams.set("cursor", next);
  return { status: 200, body, headers: { Link: `<${url.pathname}${url.search}>; rel="next"` } };
}
