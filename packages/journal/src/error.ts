/** What was thrown, without `instanceof`: the file system's errors may come from another realm. */
const fieldOf = (error: unknown, name: "code" | "message"): unknown =>
  typeof error === "object" && error !== null ? (error as Readonly<Record<string, unknown>>)[name] : undefined;

export const hasCode = (error: unknown, code: string): boolean => fieldOf(error, "code") === code;

export function messageOf(error: unknown): string {
  const message = fieldOf(error, "message");
  return typeof message === "string" ? message : String(error);
}
