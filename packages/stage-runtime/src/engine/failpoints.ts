/** Named places where tests make a process die, stop, throw or dawdle. Free when none is set. */
import { setTimeout as pause } from "node:timers/promises";
import { type FailpointAction, type FailpointRule, parseFailpoints } from "./failpoint-rules.ts";

export type Failpoint = (step: string) => Promise<void>;

export interface FailpointPorts {
  readonly random: () => number;
  readonly signalSelf: (signal: "SIGKILL" | "SIGSTOP") => void;
  readonly sleep: (ms: number) => Promise<void>;
}

const PASSED = Promise.resolve();
const off: Failpoint = () => PASSED;

const processPorts: FailpointPorts = {
  random: Math.random,
  signalSelf: (signal) => process.kill(process.pid, signal),
  sleep: (ms) => pause(ms),
};

/** The failpoints of one service; rules of other services in the same text are none of its business. */
export function makeFailpoints(service: string, raw: string, ports: FailpointPorts = processPorts): Failpoint {
  const parsed = parseFailpoints(raw);
  if (!parsed.ok) throw new Error(parsed.problem);
  const mine = parsed.rules.filter(({ name }) => name.startsWith(`${service}.`));
  if (mine.length === 0) return off;
  const steps = new Map(mine.map((rule) => [rule.name.slice(service.length + 1), rule]));
  const left = new Map(mine.map((rule) => [rule, rule.times]));
  return async (step) => {
    const rule = steps.get(step);
    if (rule !== undefined && fires(rule, left, ports.random)) await act(rule, ports);
  };
}

function fires(rule: FailpointRule, left: Map<FailpointRule, number>, random: () => number): boolean {
  const times = left.get(rule) ?? 0;
  if (times <= 0 || random() >= rule.probability) return false;
  left.set(rule, times - 1);
  return true;
}

async function act({ name, action }: { name: string; action: FailpointAction }, ports: FailpointPorts): Promise<void> {
  switch (action.kind) {
    case "kill":
      ports.signalSelf("SIGKILL");
      return;
    case "stop":
      ports.signalSelf("SIGSTOP");
      return;
    case "sleep":
      await ports.sleep(action.ms);
      return;
    case "throw":
      throw new Error(`failpoint ${name}`);
  }
}
