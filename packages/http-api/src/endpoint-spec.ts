/** A row of a table that server and client share, as the beginning of an operation's description. */
import type { Permission } from "@sluice/access";
import type { z } from "zod";

import type { Method, OperationSpec } from "./operation.ts";

export interface EndpointLike<P extends z.ZodType, Q extends z.ZodType, B extends z.ZodType> {
  readonly id: string;
  readonly method: Method;
  readonly path: string;
  readonly group: string;
  readonly summary: string;
  readonly permission: Permission;
  readonly narrowed?: Permission;
  readonly params?: P;
  readonly query?: Q;
  readonly body?: B;
}

/** What it answers is for the server to add: media types, headers, problems. */
export function endpointSpec<P extends z.ZodType, Q extends z.ZodType, B extends z.ZodType>(
  endpoint: EndpointLike<P, Q, B>,
): Omit<OperationSpec<P, Q, B>, "responses"> {
  const { id, method, path, group, summary, permission, narrowed, params, query, body } = endpoint;
  return {
    id,
    method,
    path,
    group,
    summary,
    permission,
    ...(narrowed === undefined ? {} : { narrowed }),
    ...(params === undefined ? {} : { params }),
    ...(query === undefined ? {} : { query }),
    ...(body === undefined ? {} : { body: { json: body } }),
  };
}
