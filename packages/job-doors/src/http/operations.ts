/** Every operation of the queue over HTTP. */
import type { Operation } from "@sluice/http-api";
import { etcdOperations } from "../etcd/operations.ts";
import { serverlessOperations } from "../serverless/operations.ts";
import { commandOperations } from "./command-operations.ts";
import { handlerOperations } from "./handler-operations.ts";
import { lookingOperations } from "./looking-operations.ts";
import type { JobPorts } from "./ports.ts";
import { workerOperations } from "./worker-operations.ts";

export const jobOperations = (ports: JobPorts): readonly Operation[] => [
  ...commandOperations(ports),
  ...lookingOperations(ports),
  ...workerOperations(ports),
  ...handlerOperations(ports.handlers),
  ...etcdOperations(ports),
  // Last: their paths begin with any word.
  ...serverlessOperations(ports),
];
