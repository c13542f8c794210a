import { traceFields } from "@sluice/tracing";
import { type DestinationStream, type Logger, pino, stdTimeFunctions } from "pino";

/**
 * pino's logger; one JSON object per line, ids bound by child loggers, payloads never. Levels: fatal = will not be
 * tried again, error = needs the team, warn = may help, info = key events.
 */
export type Log = Logger;

/** Wherever such a key stands it is not printed: the rest of a record is chosen by whoever logs it. */
const SECRETS = ["authorization", "password", "secret", "token", "cookie", "userinfo", "email", "submitter"];

export function makeLog(service: string, level: string, destination?: DestinationStream): Log {
  const options = {
    level,
    base: { service },
    timestamp: stdTimeFunctions.isoTime,
    // Lines are found by their trace, whether or not anybody records it.
    mixin: traceFields,
    formatters: { level: (label: string) => ({ level: label }) },
    redact: SECRETS.flatMap((key) => [key, `*.${key}`, `*.*.${key}`]),
  };
  return destination === undefined ? pino(options) : pino(options, destination);
}

/** A log that says nothing. */
export const silentLog = (): Log => pino({ level: "silent" });
