/** A token for the first admin: the file that the services read on stdout, the token itself on stderr, this once. */
import { randomBytes } from "node:crypto";
import { mintToken, printTokenFile } from "@sluice/access";

const LIFE_MS = 90 * 86_400_000;

const [name] = process.argv.slice(2);
if (name === undefined) {
  process.stderr.write("usage: first-token.js NAME > tokens.json\n");
  process.exit(2);
}
const nowMs = Date.now();
const { id, token, hash } = mintToken(randomBytes);
const created = new Date(nowMs).toISOString();
const expires = new Date(nowMs + LIFE_MS).toISOString();
process.stdout.write(
  printTokenFile([{ id, name, role: "admin", collections: ["*"], hash, created, created_by: "first-token", expires }]),
);
process.stderr.write(`${token}\nworks until ${expires}; make others with it: sluice token create\n`);
