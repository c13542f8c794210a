/** A served app, and a reader of its event streams. */
import { type AppOptions, createApp, type HttpServer, listen, type ListenOptions } from "../src/index.ts";
import type { Express } from "express";

export async function serve(
  addRoutes: (app: Express) => void,
  options: Partial<ListenOptions> = {},
  app: Partial<AppOptions> = {},
): Promise<HttpServer> {
  const onError = (error: unknown): never => {
    throw error;
  };
  const listening = await listen(createApp({ onError, ...app }, addRoutes), { port: 0, ...options });
  if (!listening.ok) throw new Error(listening.message);
  return listening.server;
}

export interface Received {
  readonly event?: string;
  readonly id?: string;
  readonly data?: unknown;
  readonly retry?: string;
  readonly comment?: string;
}

/** Reads blocks as they come; `next` answers null at the end of the stream. */
export function readEvents(response: Response): { next: () => Promise<Received | null>; cancel: () => Promise<void> } {
  const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  const next = async (): Promise<Received | null> => {
    for (let end = text.indexOf("\n\n"); end < 0; end = text.indexOf("\n\n")) {
      const part = await reader.read();
      if (part.done) return null;
      text += part.value;
    }
    const block = text.slice(0, text.indexOf("\n\n"));
    text = text.slice(block.length + 2);
    return Object.fromEntries(block.split("\n").map(fieldOf));
  };
  return { next, cancel: () => reader.cancel() };
}

function fieldOf(line: string): [string, unknown] {
  const [, name = "", value = ""] = /^(\w*): ?(.*)$/.exec(line) ?? [];
  return [name === "" ? "comment" : name, name === "data" ? JSON.parse(value) : value];
}
