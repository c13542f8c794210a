/** The settings of authentication, the same for every service that serves an API. */
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
  {
    path: "HOST",
    needs: ["HOST", "AUTH"],
    holds: (c: Values) => c["AUTH"] === "on" || isLoopback(String(c["HOST"])),
    message: "must be a loopback address while AUTH is off",
  },
];

function isLoopback(host: string): boolean {
  return host === "localhost" || host === "::1" || (isIP(host) === 4 && host.startsWith("127."));
}

function isHttp(raw: string): boolean {
  return URL.canParse(raw) && ["http:", "https:"].includes(new URL(raw).protocol);
}
