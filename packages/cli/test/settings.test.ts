/** Where a command goes to, and with whose token. */
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { chmod, mkdir, mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { createServer, type IncomingMessage, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { sluice } from "./support.ts";

let home: string;
let server: Server;
let url: string;
let seen: { readonly path: string; readonly auth: string | undefined }[];

beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), "sluice-cli-"));
  seen = [];
  server = createServer((request: IncomingMessage, response) => {
    seen.push({ path: request.url ?? "", auth: request.headers.authorization });
    response.setHeader("content-type", "application/json");
    response.end(JSON.stringify({ name: "ida", role: "operator", collections: null, permissions: [], items: [] }));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterEach(async () => {
  server.closeAllConnections();
  server.close();
  await rm(home, { recursive: true, force: true });
});

const config = () => join(home, ".config", "sluice", "config.yaml");
const at = (env: Readonly<Record<string, string>> = {}, cwd = home) => ({ env, home, cwd });

async function fleetFile(tokens: Readonly<Record<string, string>>): Promise<string> {
  await mkdir(join(home, "checkout", "data"), { recursive: true });
  await mkdir(join(home, "checkout", "packages"), { recursive: true });
  const file = { zookeeper: "x", services: { admin: url, "batch-intake": url }, tokens };
  await writeFile(join(home, "checkout", "data", "fleet.json"), JSON.stringify(file));
  return join(home, "checkout", "packages");
}

describe("the environment", () => {
  test("says where and who", async () => {
    const { code } = await sluice("whoami", at({ SLUICE_ADMIN_URL: url, SLUICE_TOKEN: "slc_a_b" }));
    expect([code, seen]).toEqual([0, [{ path: "/v1/me", auth: "Bearer slc_a_b" }]]);
  });

  test("that names no admin is told so, with the setting", async () => {
    const { code, err } = await sluice("whoami", at({ SLUICE_INTAKE_URL: url }));
    expect(code).toBe(64);
    expect(err).toContain("set SLUICE_ADMIN_URL");
  });
});

describe("contexts", () => {
  const set = (name: string, more: string) =>
    sluice(`context set ${name} --admin-url ${url} ${more}`, { ...at(), stdin: "slc_secret_1\n" });

  test("are saved for their owner alone, used, listed and forgotten; their tokens are never shown", async () => {
    expect((await set("first", "--token-stdin")).code).toBe(0);
    expect((await set("second", "")).code).toBe(0);
    expect((await stat(config())).mode & 0o777).toBe(0o600);
    await sluice("whoami", at());
    await sluice("whoami --context second", at());
    expect(seen.map(({ auth }) => auth)).toEqual(["Bearer slc_secret_1", undefined]);
    const said = await Promise.all(
      ["context list", "context list -o json", "context show", "context show -o yaml", "whoami -o wide"].map((line) =>
        sluice(line, at()),
      ),
    );
    for (const { code, out, err } of said) expect([code, `${out}${err}`.includes("slc_secret")]).toEqual([0, false]);
    expect(said[0]?.out).toMatch(/^\*\s+first/m);
    await sluice("context use second", at());
    expect((await sluice("context list -o json", at())).out).toContain('"current": true');
    await sluice("context delete second", at());
    expect((await sluice("context use second", at())).code).toBe(3);
    expect(await readFile(config(), "utf8")).not.toContain("second");
  });

  test("take their token from a file", async () => {
    await writeFile(join(home, "token"), "slc_file_1\n");
    await set("first", "--token-file token");
    await sluice("whoami", { ...at(), cwd: "/" });
    expect(seen[0]?.auth).toBe("Bearer slc_file_1");
  });

  test("that others may read are warned of", async () => {
    await set("first", "--token-stdin");
    await chmod(config(), 0o644);
    expect((await sluice("whoami", at())).err).toContain("chmod 600");
  });

  test("never lend their token to an address from the environment", async () => {
    await set("first", "--token-stdin");
    await sluice("whoami", at({ SLUICE_ADMIN_URL: url }));
    await sluice(`whoami --admin-url ${url}`, at());
    expect(seen.map(({ auth }) => auth)).toEqual([undefined, undefined]);
  });

  test("that do not exist, or a file that is wrong, are told", async () => {
    await set("production", "");
    const wrong = await sluice("whoami --context producton", at());
    expect([wrong.code, wrong.err]).toEqual([64, expect.stringContaining("did you mean production?")]);
    await writeFile(config(), "contexts: { a: { admin: 7 } }\n");
    expect((await sluice("context list", at())).err).toContain("contexts.a.admin");
  });
});

describe("a checkout whose fleet runs", () => {
  test("needs no configuration: the least role that may do it is taken, and said", async () => {
    const cwd = await fleetFile({ operator: "slc_op_1", admin: "slc_ad_1" });
    const { err, out } = await sluice("whoami", at({}, cwd));
    for (const line of ["token list", "fsck", "fsck --repair"]) await sluice(line, at({}, cwd));
    expect(seen.map(({ auth }) => auth)).toEqual(["op", "ad", "op", "ad"].map((role) => `Bearer slc_${role}_1`));
    expect(err).toContain("as its development operator");
    expect(`${out}${err}`).not.toContain("slc_");
  });

  test("gives way to a token of one's own", async () => {
    const cwd = await fleetFile({ operator: "slc_op_1" });
    await sluice("whoami", at({ SLUICE_TOKEN: "slc_mine_1" }, cwd));
    expect(seen[0]?.auth).toBe("Bearer slc_mine_1");
  });
});

test("without anything it says every way to say where", async () => {
  const { code, err } = await sluice("whoami", at());
  expect(code).toBe(64);
  for (const way of ["SLUICE_ADMIN_URL", "sluice context set", "npm start"]) expect(err).toContain(way);
});

test("nobody at the address: 1, and what to look at", async () => {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
  const { code, err } = await sluice("whoami", at({ SLUICE_ADMIN_URL: url, SLUICE_TOKEN: "slc_a_b" }));
  expect(code).toBe(1);
  expect(err).toContain(url);
  expect(err).not.toContain("slc_a_b");
});
