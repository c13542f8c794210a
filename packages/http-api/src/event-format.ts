/** The wire format of server-sent events. Pure. */

export interface ServerEvent {
  /** Name that listeners listen to. */
  readonly event: string;
  /** Comes back as Last-Event-ID after a break. */
  readonly id?: string;
  /** Sent as JSON. */
  readonly data: unknown;
}

/** A line break would begin a field of the sender's own. */
const oneLine = (text: string): string => text.replaceAll(/[\r\n\0]/g, " ");

export function printEvent({ event, id, data }: ServerEvent): string {
  const head = `event: ${oneLine(event)}\n${id === undefined ? "" : `id: ${oneLine(id)}\n`}`;
  return `${head}data: ${JSON.stringify(data ?? null)}\n\n`;
}

export const printComment = (text: string): string => `: ${oneLine(text)}\n\n`;
export const printRetry = (ms: number): string => `retry: ${Math.round(ms)}\n\n`;
