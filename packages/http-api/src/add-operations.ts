import type { IRouter, RequestHandler } from "express";

import type { Operation } from "./operation.ts";
import { named } from "./named.ts";
import { problem } from "./problem.ts";
import { sendProblem } from "./reply.ts";

/** Registers each operation under its path; other methods there are answered by 405 and the list of those that exist. */
export function addOperations(router: IRouter, operations: readonly Operation[]): void {
  const methods = new Map<string, string[]>();
  for (const { spec, handlers } of operations) {
    const path = expressPath(spec.path);
    router[spec.method](path, ...handlers);
    methods.set(path, [...(methods.get(path) ?? []), spec.method.toUpperCase()]);
  }
  for (const [path, known] of methods) router.use(path, onlyHere(known));
}

/** /v1/batches/{id} → /v1/batches/:id */
export const expressPath = (path: string): string => path.replaceAll(/\{(\w+)\}/g, ":$1");

const onlyHere = (known: readonly string[]): RequestHandler => {
  const allow = known.includes("GET") ? [...known, "HEAD"] : known;
  return named("onlyHere", (request, response, next) => {
    // `use` also matches what lies below; that is for other routes, or for nobody.
    if (request.path !== "/" || allow.includes(request.method)) {
      next();
      return;
    }
    response.set("Allow", allow.join(", "));
    sendProblem(response, problem("METHOD_NOT_ALLOWED", `only ${allow.join(", ")} is possible here`));
  });
};
