import { afterEach } from "@jest/globals";
import type { HttpServer } from "@sluice/testkit";

const open: HttpServer[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((server) => server.close()));
});

export async function closedAfterTest<S extends HttpServer>(starting: Promise<S>): Promise<S> {
  const server = await starting;
  open.push(server);
  return server;
}
