import { afterEach, describe, expect, test } from "@jest/globals";
import { request } from "node:http";
import { Registry } from "prom-client";
import { type OpsServer, startOpsServer } from "../src/service/ops-server.ts";

let server: OpsServer;
afterEach(() => server.close());

async function start(host: string): Promise<number> {
  const none = (): [] => [];
  server = await startOpsServer({ host, port: 0, registry: new Registry(), livez: none, readyz: none, inHand: none });
  return Number(new URL(server.url).port);
}

/** fetch sends the Host header of its URL and no other. */
const statusFor = (port: number, host: string, path: string): Promise<number | undefined> =>
  new Promise((resolve, reject) => {
    const sent = request({ host: "127.0.0.1", port, path, headers: { host } }, (response) => {
      response.resume();
      resolve(response.statusCode);
    });
    sent.on("error", reject);
    sent.end();
  });

const PATHS = ["/metrics", "/livez", "/readyz", "/progress"];

describe("the metrics port", () => {
  test.each(["rebound.example", "rebound.example:9400", "127.example.org", "localhost.example.org", "["])(
    "of this machine is not asked as %s",
    async (host) => {
      const port = await start("127.0.0.1");
      for (const path of PATHS) expect([path, await statusFor(port, host, path)]).toEqual([path, 403]);
    },
  );

  test.each(["localhost", "127.0.0.1", "[::1]:9400", "10.1.2.3:9400"])(
    "of this machine is asked as %s",
    async (host) => {
      const port = await start("127.0.0.1");
      for (const path of PATHS) expect([path, await statusFor(port, host, path)]).toEqual([path, 200]);
    },
  );

  test.each(["10.1.2.3:9400", "estimator:9400"])("of a network is asked as %s, as scrapers do", async (host) => {
    const port = await start("0.0.0.0");
    for (const path of PATHS) expect([path, await statusFor(port, host, path)]).toEqual([path, 200]);
  });

  test("that another process has is named, with what to do", async () => {
    const port = await start("127.0.0.1");
    const none = (): [] => [];
    const parts = { host: "127.0.0.1", registry: new Registry(), livez: none, readyz: none, inHand: none };
    await expect(startOpsServer({ ...parts, port })).rejects.toThrow(
      `METRICS_PORT: another process listens on 127.0.0.1:${port}: set another port`,
    );
  });
});
