/** The settings of authentication, the same for every service that serves an API. */
import { isThisMachine } from "@sluice/zookeeper";
import { isIP } from "node:net";
import { z } from "zod";

const unsetIfEmpty = z
  .string()
  .optional()
  .transform((raw) => (raw === "" ? undefined : raw));

export const ACCESS_FIELDS = {
  /** `on`: every caller shows a token or a JWT. `off`: whoever reaches the port may do everything. */
  AUTH: z.enum(["on", "off"], { error: "must be on or off" }).default("off"),
  /** Tokens, hashed: the first admin's, and those that must work while ZooKeeper is away. */
  AUTH_TOKENS_FILE: unsetIfEmpty,
  /** An OIDC provider whose JWTs are taken. */
  OIDC_ISSUER: unsetIfEmpty.refine((raw) => raw === undefined || isHttp(raw), "must be an http or https URL"),
  OIDC_AUDIENCE: z.string().default("sluice"),
  /** Where its keys are; found from the issuer if not given. */
  OIDC_JWKS_URL: unsetIfEmpty.refine((raw) => raw === undefined || isHttp(raw), "must be an http or https URL"),
  OIDC_ROLE_CLAIM: z.string().min(1).default("roles"),
  OIDC_COLLECTIONS_CLAIM: z.string().min(1).default("collections"),
  OIDC_TENANTS_CLAIM: z.string().min(1).default("tenants"),
  /** How long the tree's tokens are taken as they were read last while ZooKeeper cannot be asked; then nobody's are. */
  TOKENS_STALE_MAX_MS: z.coerce.number("must be a whole number").int().min(0).max(86_400_000).default(3_600_000),
  /** Addresses of proxies whose X-Forwarded-For and X-Forwarded-Proto are believed, with commas between them. */
  TRUSTED_PROXIES: z
    .string()
    .default("")
    .transform((raw) => raw.split(",").map((part) => part.trim()))
    .transform((parts) => parts.filter((part) => part !== ""))
    .refine((parts) => parts.every(isProxy), "must be addresses, networks (10.0.0.0/8), loopback or uniquelocal"),
  /** Requests of one caller in a minute. */
  CALLS_PER_MINUTE: z.coerce.number("must be a whole number").int().min(1).max(1_000_000).default(1_200),
  NODE_ENV: z.string().default("development"),
} as const;

export type AccessSettings = Readonly<z.infer<z.ZodObject<typeof ACCESS_FIELDS>>>;

type Values = Readonly<Record<string, unknown>>;

/** Nobody serves the world by accident. */
export const ACCESS_RELATIONS = [
  {
    path: "AUTH",
    needs: ["AUTH", "NODE_ENV"],
    holds: (c: Values) => c["NODE_ENV"] !== "production" || c["AUTH"] === "on",
    message: "must be on in production (NODE_ENV=production)",
  },
  {
    path: "AUTH_TOKENS_FILE",
    needs: ["AUTH", "NODE_ENV"],
    holds: (c: Values) =>
      c["NODE_ENV"] !== "production" ||
      c["AUTH"] !== "on" ||
      c["AUTH_TOKENS_FILE"] !== undefined ||
      c["OIDC_ISSUER"] !== undefined,
    message: "or OIDC_ISSUER must be set in production: without either nobody could come in to make the first token",
  },
  ...["OIDC_ISSUER", "OIDC_JWKS_URL"].map((path) => ({
    path,
    needs: [path, "NODE_ENV"],
    holds: isSecuredOutsideDevelopment(path),
    message: "must be an https URL outside development (NODE_ENV)",
  })),
  {
    path: "HOST",
    needs: ["HOST", "AUTH"],
    holds: (c: Values) => c["AUTH"] === "on" || isThisMachine(String(c["HOST"])),
    message: "must be a loopback address while AUTH is off",
  },
];

/** Names that express knows for networks nobody is routed to from outside. */
const PRIVATE_NETWORKS = ["loopback", "linklocal", "uniquelocal"];

function isProxy(raw: string): boolean {
  if (PRIVATE_NETWORKS.includes(raw)) return true;
  const [address = "", bits, ...more] = raw.split("/");
  const family = isIP(address);
  if (family === 0 || more.length > 0) return false;
  // A network of no bits is everybody.
  return bits === undefined || (/^[1-9]\d{0,2}$/.test(bits) && Number(bits) <= (family === 6 ? 128 : 32));
}

/** Outside development a provider is asked over TLS: whoever can change its keys on the way can be anybody. */
function isSecuredOutsideDevelopment(name: string) {
  return (c: Values): boolean =>
    ["development", "test"].includes(String(c["NODE_ENV"])) || !/^http:/i.test(String(c[name]));
}

function isHttp(raw: string): boolean {
  return URL.canParse(raw) && ["http:", "https:"].includes(new URL(raw).protocol);
}
