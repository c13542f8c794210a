import { relative, resolve, sep } from "node:path";
import { pathToFileURL } from "node:url";

/** Where a file of the working folder is found: below `accessUrl` if others fetch it from there, else on this disk. */
export function workingUrl(workingDir: string, accessUrl: string | undefined): (path: string) => string {
  if (accessUrl === undefined) return (path) => pathToFileURL(path).href.replaceAll("|", "%7C");
  const [root, base] = [resolve(workingDir), accessUrl.replace(/(?<!\/)\/+$/, "")];
  return (path) => [base, ...relative(root, path).split(sep).map(encodeURIComponent)].join("/");
}
