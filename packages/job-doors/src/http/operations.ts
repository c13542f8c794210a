/** Every operation of the queue over HTTP. */
import type { Operation } from "@sluice/http-api";
import { etcdOperations } from "../etcd/operations.ts";
import { serverlessOperations } from "../serverless/operations.ts";
import { commandOperations } from "./command-operations.ts";
import { handlerOperations } from "./handler-operations.ts";
import { lookingOperations } from "./looking-operations.ts";
import { shownQueue } from "../shown.ts";
import type { JobPorts } from "./ports.ts";
import { sealedOperation } from "./sealed-operation.ts";
import { workerOperations } from "./worker-operations.ts";

export function jobOperations(ports: JobPorts): readonly Operation[] {
  const shown: JobPorts = { ...ports, queue: shownQueue(ports.queue) };
  return [
    ...commandOperations(shown),
    ...lookingOperations(shown),
    sealedOperation(ports),
    ...workerOperations(ports),
    ...handlerOperations(ports),
    ...etcdOperations(shown),
    // Last: their paths begin with any word.
    ...serverlessOperations(shown),
  ];
}
