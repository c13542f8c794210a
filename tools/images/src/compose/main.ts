/** `npm run compose -- small|full [up …]`: makes the secrets if there are none, and hands over to compose. */
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { ROOT } from "../root.ts";
import { findCompose } from "./command.ts";
import { provideSecrets } from "./secrets.ts";

const [profile = "", ...args] = process.argv.slice(2);
const secrets = process.env["SLUICE_SECRETS"] ?? join(ROOT, "data", "compose");
const say = (line: string): void => console.error(line);

if (!["small", "full"].includes(profile)) {
  say("npm run compose -- small|full [what compose is told; up -d if nothing]");
  process.exit(64);
}
const compose = await findCompose(say);
if ("skip" in compose) {
  say(compose.skip);
  process.exit(69);
}
await provideSecrets({ folder: secrets, database: { host: "mariadb", port: 3306 } });
say(`secrets are in ${secrets}, a token for each role in tokens.json; the console is at http://127.0.0.1:8081`);
const where = ["--env-file", join(ROOT, "deploy/compose", `${profile}.env`), "--profile", profile];
const { status } = spawnSync(
  compose.command,
  [...compose.first, ...where, ...(args.length === 0 ? ["up", "-d"] : args)],
  {
    cwd: ROOT,
    stdio: "inherit",
    env: { ...process.env, SLUICE_SECRETS: secrets },
  },
);
process.exitCode = status ?? 1;
