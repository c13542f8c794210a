/**
 * The language of FAILPOINTS: `service.step=action[@probability][#times]`, joined by semicolons.
 * Actions: kill (SIGKILL), stop (SIGSTOP), throw, sleep(ms). #times: at most so often.
 */
export type FailpointAction =
  | { readonly kind: "kill" }
  | { readonly kind: "stop" }
  | { readonly kind: "throw" }
  | { readonly kind: "sleep"; readonly ms: number };

export interface FailpointRule {
  /** `service.step` */
  readonly name: string;
  readonly action: FailpointAction;
  readonly probability: number;
  readonly times: number;
}

const RULE =
  /^([a-z][a-z-]*\.[A-Za-z][A-Za-z0-9]*)=(kill|stop|throw|sleep\((\d{1,7})\))(?:@(\d+(?:\.\d+)?|\.\d+))?(?:#(\d{1,9}))?$/;

type Rules =
  { readonly ok: true; readonly rules: readonly FailpointRule[] } | { readonly ok: false; readonly problem: string };

export function parseFailpoints(raw: string): Rules {
  const rules: FailpointRule[] = [];
  for (const part of raw.split(";").map((each) => each.trim())) {
    if (part === "") continue;
    const rule = parseRule(part);
    if (rule === null) return { ok: false, problem: `no failpoint: ${part} (service.step=kill|stop|throw|sleep(ms))` };
    rules.push(rule);
  }
  return { ok: true, rules };
}

export function failpointsProblem(raw: string): string | null {
  const parsed = parseFailpoints(raw);
  return parsed.ok ? null : parsed.problem;
}

function parseRule(part: string): FailpointRule | null {
  const [, name, word, ms, probability = "1", times = "Infinity"] = RULE.exec(part) ?? [];
  if (name === undefined || word === undefined || Number(probability) > 1) return null;
  return { name, action: actionOf(word, ms), probability: Number(probability), times: Number(times) };
}

function actionOf(word: string, ms: string | undefined): FailpointAction {
  switch (word) {
    case "kill":
    case "stop":
    case "throw":
      return { kind: word };
    default:
      return { kind: "sleep", ms: Number(ms) };
  }
}
