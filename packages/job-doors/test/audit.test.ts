/** What people order is written down before it is done. */
import { afterEach, beforeEach, expect, test } from "@jest/globals";
import type { HttpServer } from "@sluice/http-api";
import type { Order } from "../src/http/audit.ts";
import { portsOf, serveJobs } from "./support/http-door.ts";
import { MemoryQueue } from "./support/memory-queue.ts";

let server: HttpServer;
let orders: Order[];
let isWritten: boolean;
beforeEach(async () => {
  orders = [];
  isWritten = true;
  const audit = (order: Order): Promise<boolean> => {
    orders.push(order);
    return Promise.resolve(isWritten);
  };
  server = await serveJobs({ ...portsOf(new MemoryQueue()), audit });
});
afterEach(() => server.close(0));

async function ask(method: string, path: string, body?: object): Promise<number> {
  const sent =
    body === undefined ? {} : { headers: { "content-type": "application/json" }, body: JSON.stringify(body) };
  const answer = await fetch(`http://127.0.0.1:${server.port}${path}`, { method, ...sent });
  return answer.status;
}
const command = (verb: string, body: object, query = ""): Promise<number> =>
  ask("POST", `/v1/tenants/default/commands/${verb}${query}`, body);
const told = (): readonly string[] =>
  orders.map(({ caller, action, target, reason }) => `${caller.name} (${caller.id}): ${action} ${target}: ${reason}`);

test("a command with a reason is in the audit, one without is a program's", async () => {
  await command("CreateJob", { name: "mail" });
  expect(await command("CancelJob", { jobID: 1 }, "?reason=a%20typo")).toBe(200);
  expect(await command("DeleteJob", { jobID: 7 }, "?reason=gone%3F")).toBe(404);
  expect(await command("DeleteJob", { jobID: 7 }, "?reason=no")).toBe(400);
  expect(await command("QueryJob", { jobID: 1 })).toBe(200);
  expect(told()).toEqual([
    "Ada (token:ada): queue.CancelJob default/1: a typo",
    "Ada (token:ada): queue.DeleteJob default/7: gone?",
    "Ada (token:ada): queue.DeleteJob refused default/7: No job with this jobID",
  ]);
});

test("what cannot be written down is not done", async () => {
  await command("CreateJob", { name: "mail" });
  isWritten = false;
  expect(await command("CancelJob", { jobID: 1 }, "?reason=a%20typo")).toBe(503);
  expect(await ask("PUT", "/v1/tenants/default/handlers/mail", { lang: "node", body: "return 200" })).toBe(503);
  expect(await ask("POST", "/default/handler/add/mail/add", {})).toBe(400);
  expect(orders).toHaveLength(2);
  isWritten = true;
  expect(await command("CancelJob", { jobID: 1 })).toBe(200);
  expect(await ask("GET", "/v1/tenants/default/handlers/mail")).toBe(404);
});

test("every change of a handler is in the audit, at both endpoints, with a reason or without", async () => {
  const spec = { lang: "php", body: "<?php" };
  expect(await ask("PUT", "/v1/tenants/default/handlers/mail?reason=new%20layout", spec)).toBe(201);
  expect(await ask("POST", "/default/handler/add/mail/add?method=node", spec)).toBe(200);
  expect(await ask("POST", "/default/handler/del/mail/delete?reason=not%20used")).toBe(200);
  expect(await ask("DELETE", "/v1/tenants/default/handlers/mail")).toBe(404);
  expect(told()).toEqual([
    "Ada (token:ada): handler.put php default/mail: new layout",
    "Ada (token:ada): handler.put node default/mail: ",
    "Ada (token:ada): handler.delete default/mail: not used",
    "Ada (token:ada): handler.delete default/mail: ",
    "Ada (token:ada): handler.delete refused default/mail: there is no such handler",
  ]);
});
