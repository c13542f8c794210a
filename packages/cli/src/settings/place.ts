/**
 * Where the services are and who asks. Sources are taken whole: a token goes to the addresses it was saved with, never to
 * one from elsewhere.
 */
import { type Permission, PERMISSIONS } from "@sluice/access";
import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import type { Given } from "../given.ts";
import type { Io } from "../io.ts";
import { orMaybe } from "../near.ts";
import { type Config, readConfigFile, type SavedContext } from "./config-file.ts";
import { findFleet } from "./fleet-file.ts";

export interface Place {
  readonly intake: string | null;
  readonly admin: string | null;
  readonly jobs: string | null;
  readonly token: string | null;
  /** For messages: where the addresses come from. */
  readonly source: string;
  readonly notes: readonly string[];
}

export type Placed = { readonly ok: true; readonly place: Place } | { readonly ok: false; readonly why: string };

const given = (env: Io["env"], name: string): string | null => {
  const value = env[name] ?? "";
  return value === "" ? null : value;
};

export async function findPlace(io: Io, options: Given, permission: Permission | undefined): Promise<Placed> {
  const token = await tokenOf(io, options.text("token-file"));
  if (!token.ok) return token;
  const intake = options.text("intake-url") ?? given(io.env, "SLUICE_INTAKE_URL");
  const admin = options.text("admin-url") ?? given(io.env, "SLUICE_ADMIN_URL");
  const jobs = options.text("jobs-url") ?? given(io.env, "SLUICE_JOBS_URL");
  const asked = options.text("context") ?? given(io.env, "SLUICE_CONTEXT");
  if (asked === null && (intake !== null || admin !== null || jobs !== null)) {
    const source = "SLUICE_INTAKE_URL, SLUICE_ADMIN_URL and SLUICE_JOBS_URL";
    return { ok: true, place: { intake, admin, jobs, token: token.value, source, notes: [] } };
  }
  const file = await readConfigFile(io);
  if (!file.ok) return file;
  const name = asked ?? file.config.current ?? null;
  if (name !== null)
    return await fromContext(name, file.config, token.value, { path: file.path, notes: file.warnings });
  return await fromFleet(io, token.value, permission);
}

async function fromContext(
  name: string,
  { contexts }: Config,
  token: string | null,
  { path, notes }: { readonly path: string; readonly notes: readonly string[] },
): Promise<Placed> {
  const saved = contexts[name];
  if (saved === undefined) {
    const near = orMaybe(name, Object.keys(contexts));
    return { ok: false, why: `there is no context ${name} in ${path}${near}; make it with sluice context set ${name}` };
  }
  const own = token === null ? await savedToken(saved) : { ok: true as const, value: token };
  if (!own.ok) return own;
  const place = {
    intake: saved.intake ?? null,
    admin: saved.admin ?? null,
    jobs: saved.jobs ?? null,
    token: own.value,
    source: `context ${name}`,
    notes,
  };
  return { ok: true, place };
}

/** The least role of a development fleet that may do it. */
async function fromFleet(io: Io, token: string | null, permission: Permission | undefined): Promise<Placed> {
  const fleet = await findFleet(io.cwd);
  if (fleet === null) {
    const why =
      "nobody says where the services are; set SLUICE_ADMIN_URL, SLUICE_INTAKE_URL, SLUICE_JOBS_URL and SLUICE_TOKEN, save them with " +
      "sluice context set NAME, or start a fleet in a checkout with npm start";
    return { ok: false, why };
  }
  const roles: readonly string[] = permission === undefined ? ["operator"] : PERMISSIONS[permission].roles;
  const role = roles.includes("operator") ? "operator" : "admin";
  const own = token ?? fleet.tokens[role] ?? null;
  const as = token === null && own !== null ? `, as its development ${role}` : "";
  const place = {
    intake: fleet.intake ?? null,
    admin: fleet.admin ?? null,
    jobs: fleet.jobs ?? null,
    token: own,
    source: fleet.path,
    notes: [`sluice: no configuration; using the fleet of ${fleet.path}${as}`],
  };
  return { ok: true, place };
}

type TokenRead = { readonly ok: true; readonly value: string | null } | { readonly ok: false; readonly why: string };

async function tokenOf(io: Io, file: string | undefined): Promise<TokenRead> {
  return file === undefined
    ? { ok: true, value: given(io.env, "SLUICE_TOKEN") }
    : await fromFile(resolve(io.cwd, file));
}

const savedToken = async ({ token, token_file: file }: SavedContext): Promise<TokenRead> =>
  file === undefined ? { ok: true, value: token ?? null } : await fromFile(file);

async function fromFile(file: string): Promise<TokenRead> {
  try {
    const value = (await readFile(file, "utf8")).trim();
    return value === "" ? { ok: false, why: `${file} is empty: it should hold a token` } : { ok: true, value };
  } catch (error) {
    return { ok: false, why: `the token cannot be read: ${(error as Error).message}` };
  }
}
