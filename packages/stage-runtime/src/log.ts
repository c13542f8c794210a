import { traceFields } from "@sluice/tracing";
import { type Bindings, type DestinationStream, type Logger, pino, stdTimeFunctions } from "pino";

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
    base: null,
    timestamp: stdTimeFunctions.isoTime,
    // Lines are found by their trace, whether or not anybody records it.
    mixin: (_line: object, _level: number, log: object): MixedIn => ({ trace: traceFields(), bound: BOUND.get(log) }),
    mixinMergeStrategy: uniqueKeys,
    formatters: { level: (label: string) => ({ level: label }) },
    redact: SECRETS.flatMap((key) => [key, `*.${key}`, `*.*.${key}`]),
  };
  const root: Log = destination === undefined ? pino(options) : pino(options, destination);
  return withUniqueBindings(root).child({ service });
}

/** What is bound to a logger. pino writes it before each line's own keys, whatever those are: a key would stand there twice. */
const BOUND = new WeakMap<object, Bindings>();

interface MixedIn {
  readonly trace: object;
  readonly bound: Bindings | undefined;
}

/** pino's own keys. */
const RESERVED: ReadonlySet<string> = new Set(["level", "time"]);

/** A child binds anew what its parent had bound: each is made from the root, which has bound nothing. */
function withUniqueBindings(root: Log): Log {
  const makeChild = root.child.bind(root);
  const child = function (this: Log, bindings: Bindings): Log {
    const all = { ...BOUND.get(this), ...bindings };
    const made = makeChild(all);
    BOUND.set(made, all);
    return made;
  };
  return Object.assign(root, { child });
}

/** What is bound already is not said again; if a line means another value, both are kept. */
function uniqueKeys(line: object, mixed: object): object {
  const { trace, bound = {} } = mixed as MixedIn;
  const unique: Record<string, unknown> = { ...trace };
  for (const [key, value] of Object.entries(line)) {
    if (!(key in bound) && !RESERVED.has(key)) unique[key] = value;
    else if (bound[key] !== value) unique[`line_${key}`] = value;
  }
  return unique;
}

/** A log that says nothing. */
export const silentLog = (): Log => pino({ level: "silent" });
