/** Whom the server knows: one user with a database of its own. */
import { randomBytes } from "node:crypto";

export interface Account {
  readonly password: string;
  /** For the server's --init-file. */
  readonly sql: string;
  readonly urlAt: (port: number) => string;
}

export const DATABASE = "inventory";
export const USER = "sluice";

export function newAccount(): Account {
  const password = randomBytes(12).toString("hex");
  const user = `'${USER}'@'127.0.0.1'`;
  return {
    password,
    sql: [
      `create database if not exists ${DATABASE};`,
      `create user if not exists ${user} identified by '${password}';`,
      `grant all on ${DATABASE}.* to ${user};`,
      `grant process on *.* to ${user};`,
    ].join("\n"),
    urlAt: (port) => `mysql://${USER}:${password}@127.0.0.1:${port}/${DATABASE}`,
  };
}
