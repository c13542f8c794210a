import { expect, test } from "@jest/globals";
import { isPortFree, skipUnless, startMariaDb } from "../src/index.ts";

const database = await startMariaDb();

skipUnless(test, database)(
  "a MariaDB comes up on a free port, comes back after a kill, and leaves nothing",
  async () => {
    if ("skip" in database) return;
    expect(await isPortFree(database.port)).toBe(false);
    expect(database.url).toMatch(new RegExp(`^mysql://sluice:[0-9a-f]{24}@127.0.0.1:${database.port}/inventory$`));
    await database.kill("SIGKILL");
    expect(await isPortFree(database.port)).toBe(true);
    await database.restart();
    expect(await isPortFree(database.port)).toBe(false);
    await database.stop();
    expect(await isPortFree(database.port)).toBe(true);
  },
);
