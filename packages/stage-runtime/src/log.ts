import type { Logger } from "pino";

/** pino's logger; one JSON object per line, ids bound by child loggers, payloads never. */
export type Log = Logger;
