/** Where the finder tells what it tries, one line a fact. */
export type Log = (line: string) => void;

export const silent: Log = () => undefined;

export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
