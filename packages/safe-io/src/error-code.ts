/**
 * The code that Node and the HTTP client put on their errors, else the name. It looks at the shape, not at the class: errors may come
 * from another realm.
 */
export function errorCode(error: unknown): string | undefined {
  if (typeof error !== "object" || error === null) return undefined;
  if ("code" in error && typeof error.code === "string") return error.code;
  if ("cause" in error && error.cause !== undefined) return errorCode(error.cause);
  return "name" in error && typeof error.name === "string" ? error.name : undefined;
}
