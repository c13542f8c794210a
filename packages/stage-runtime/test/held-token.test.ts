import { afterEach, beforeEach, expect, test } from "@jest/globals";
import { mkdtemp, rename, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { z } from "zod";
import { baseConfig, heldToken, readConfig } from "../src/index.ts";

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "sluice-token-"));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

function reader(file: string): () => string {
  const { token } = heldToken(undefined, file);
  if (typeof token !== "function") throw new Error("no function");
  return token;
}

test("a token in a file is the present one at every call; what it was stays while the file is empty or gone", async () => {
  const file = join(folder, "token");
  await writeFile(file, "first\n");
  const token = reader(file);
  expect([token(), token()]).toEqual(["first", "first"]);
  await writeFile(file, "other");
  expect(token()).toBe("other");
  await writeFile(file, "");
  expect(token()).toBe("other");
  await writeFile(`${file}.new`, "third");
  await rm(file);
  expect(token()).toBe("other");
  await rename(`${file}.new`, file);
  expect(token()).toBe("third");
});

test("it is seen when a mounted Secret is replaced, which is a link that points elsewhere", async () => {
  for (const name of ["a", "b"]) await writeFile(join(folder, name), `token ${name}`);
  const link = async (target: string): Promise<void> => {
    await symlink(target, join(folder, "..new"));
    await rename(join(folder, "..new"), join(folder, "token"));
  };
  await link("a");
  const token = reader(join(folder, "token"));
  expect(token()).toBe("token a");
  await link("b");
  expect(token()).toBe("token b");
});

test("without a file it is the setting's; without either there is none", () => {
  expect([heldToken(" x\n", undefined), heldToken(undefined, undefined)]).toEqual([{ token: "x" }, {}]);
});

test("where the file is a setting of its own it must be there, hold something, and be given alone", () => {
  const schema = baseConfig.extend({ A_TOKEN: z.string().optional(), A_TOKEN_FILE: z.string().optional() });
  const read = (env: Readonly<Record<string, string>>, holds: string) =>
    readConfig(schema, { ZOOKEEPER_CONNECT: "zk:1", ...env }, { readSecret: () => holds });
  const file = { A_TOKEN_FILE: "/run/token" };
  expect(read(file, "x")).toMatchObject({ ok: true, config: { A_TOKEN: undefined, A_TOKEN_FILE: "/run/token" } });
  expect(read(file, " \n")).toEqual({ ok: false, problems: ["A_TOKEN_FILE: names an empty file"] });
  expect(read({ ...file, A_TOKEN: "y" }, "x")).toEqual({
    ok: false,
    problems: ["A_TOKEN: set together with A_TOKEN_FILE"],
  });
});
