/** INVENTORY_URL: which database, by its kind. */

export type InventoryUrl = SqliteUrl | MySqlUrl;

export interface SqliteUrl {
  readonly kind: "sqlite";
  readonly file: string;
}

export interface MySqlUrl {
  readonly kind: "mysql";
  readonly host: string;
  readonly port: number;
  readonly database: string;
  readonly user: string;
  /** A function, so that no printer of settings or errors shows it. */
  readonly password: () => string;
  readonly tls: boolean;
}

export const INVENTORY_URL_FORMS = "sqlite:FILE or mysql://USER:PASSWORD@HOST:PORT/DATABASE";

/** Null: not a database that we know. */
export function parseInventoryUrl(text: string): InventoryUrl | null {
  const file = /^sqlite:(?:\/\/(?=\/))?(.+)$/.exec(text)?.[1];
  return file === undefined ? parseMySqlUrl(text) : { kind: "sqlite", file };
}

const MYSQL_PORT = 3_306;
const SCHEMES: readonly string[] = ["mysql:", "mariadb:"];

function parseMySqlUrl(text: string): MySqlUrl | null {
  if (!URL.canParse(text)) return null;
  const url = new URL(text);
  const [database, user, password] = [url.pathname.slice(1), url.username, url.password].map(decoded);
  if (!SCHEMES.includes(url.protocol) || url.hostname === "" || !database || !user || password === null) return null;
  const host = url.hostname.replace(/^\[(.*)\]$/, "$1");
  const port = url.port === "" ? MYSQL_PORT : Number(url.port);
  const tls = url.searchParams.get("tls") === "true";
  return { kind: "mysql", host, port, database, user, password: () => password ?? "", tls };
}

function decoded(part: string): string | null {
  try {
    return decodeURIComponent(part);
  } catch {
    return null;
  }
}
