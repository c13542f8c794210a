/** The small parts that pages are made of. */
import type { HoldView } from "@sluice/wire";
import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";
import type { Trouble } from "../api.ts";
import { absolute, ago, count, percent } from "../format.ts";
import type { Line } from "../load.ts";
import { SIGNS, type Tone, toneOfState } from "./tones.ts";

const TICK_MS = 5_000;

export function useNow(): number {
  const [now, setNow] = useState(Date.now());
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), TICK_MS);
    return () => clearInterval(timer);
  }, []);
  return now;
}

export function Time({ at }: { readonly at: string | null }) {
  const now = useNow();
  if (at === null || isEpoch(at)) return <span class="quiet">–</span>;
  return (
    <time dateTime={at} title={absolute(at)}>
      {ago(at, now)}
    </time>
  );
}

/** ZooKeeper's own nodes have never been changed: their time is the beginning of all times. */
const isEpoch = (at: string): boolean => Date.parse(at) === 0;

export const Badge = ({ tone, children }: { readonly tone: Tone; readonly children: ComponentChildren }) => (
  <span class={`badge ${tone}`}>
    <span aria-hidden="true">{SIGNS[tone]}</span> {children}
  </span>
);

export const State = ({ of }: { readonly of: string }) => <Badge tone={toneOfState(of)}>{of}</Badge>;

const LINES: Readonly<Record<Line, readonly [Tone, string]>> = {
  connecting: ["idle", "connecting"],
  live: ["good", "live"],
  reconnecting: ["warn", "reconnecting"],
  over: ["idle", "ended"],
  paused: ["idle", "paused"],
};

export const LiveMark = ({ line }: { readonly line: Line }) => (
  <span
    class={`live ${LINES[line][0]}`}
    role="status"
    data-line={line}
    title={line === "over" ? "Nothing more will change by itself" : undefined}
  >
    <span class="dot" aria-hidden="true" /> {LINES[line][1]}
  </span>
);

/** A list is asked for again every few seconds. */
export const ListMark = ({ trouble }: { readonly trouble: Trouble | null }) => (
  <LiveMark line={trouble === null ? "live" : "reconnecting"} />
);

const CopySign = () => (
  <svg viewBox="0 0 16 16" width="14" height="14" aria-hidden="true" class="sign">
    <rect x="5.500" y="5.500" width="8" height="8" rx="1.500" />
    <path d="M10.500 3.500v-.5a1 1 0 0 0-1-1H3a1 1 0 0 0-1 1v6.500a1 1 0 0 0 1 1h.5" />
  </svg>
);

export function Id({ children }: { readonly children: string }) {
  const [copied, setCopied] = useState(false);
  const copy = async (): Promise<void> => {
    await navigator.clipboard.writeText(children).catch(() => undefined);
    setCopied(true);
    setTimeout(() => setCopied(false), 1_500);
  };
  return (
    <span class="id">
      <code>{children}</code>
      <button type="button" class="icon" onClick={() => void copy()} aria-label={`Copy ${children}`} title="Copy">
        {copied ? "✓" : <CopySign />}
      </button>
    </span>
  );
}

export function TroubleBox({ trouble }: { readonly trouble: Trouble | null }) {
  if (trouble === null) return null;
  return (
    <div class="note bad" role="alert">
      <strong>{trouble.title}.</strong> {trouble.detail}
      <div class="quiet">
        <code>{trouble.code}</code>
        {trouble.requestId === "" ? null : (
          <>
            {" "}
            · request <code>{trouble.requestId}</code>
          </>
        )}
      </div>
    </div>
  );
}

export const Nothing = ({ children }: { readonly children: ComponentChildren }) => <p class="nothing">{children}</p>;

export const Waiting = () => (
  <p class="nothing" role="status">
    Loading …
  </p>
);

export const Hold = ({ hold, what }: { readonly hold: HoldView; readonly what: string }) => (
  <span>
    <strong>{what}</strong> by {hold.by === "" ? "somebody" : hold.by}, <Time at={hold.since} />
    {hold.why === "" ? "" : `: ${hold.why}`}
    {hold.until === null ? null : (
      <>
        {" "}
        (ends <Time at={hold.until} />)
      </>
    )}
  </span>
);

export interface Part {
  readonly tone: Tone;
  readonly n: number;
  readonly label: string;
}

/** How a whole is made up; said in words besides. */
export function Bar({
  parts,
  total,
  label,
}: {
  readonly parts: readonly Part[];
  readonly total: number;
  readonly label: string;
}) {
  const words = parts.filter(({ n }) => n > 0).map(({ n, label: what }) => `${count(n)} ${what}`);
  return (
    <div class="bar" role="img" aria-label={`${label}: ${words.length === 0 ? "nothing yet" : words.join(", ")}`}>
      {parts.map(({ tone, n, label: what }) => (
        <span key={what} class={tone} style={{ width: `${total <= 0 ? 0 : (n / total) * 100}%` }} />
      ))}
    </div>
  );
}

export function Progress({
  done,
  total,
  label,
}: {
  readonly done: number;
  readonly total: number | null;
  readonly label: string;
}) {
  return (
    <div
      class={total === null ? "bar unknown" : "bar"}
      role="progressbar"
      aria-label={label}
      {...(total === null ? {} : { "aria-valuenow": percent(done, total), "aria-valuemin": 0, "aria-valuemax": 100 })}
    >
      <span class="active" style={{ width: total === null ? "100%" : `${percent(done, total)}%` }} />
    </div>
  );
}

export function Facts({ rows }: { readonly rows: readonly (readonly [string, ComponentChildren])[] }) {
  return (
    <dl class="facts">
      {rows
        .filter(([, value]) => value !== null && value !== "" && value !== undefined)
        .map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
    </dl>
  );
}

interface CardProps {
  readonly title: string;
  readonly aside?: ComponentChildren;
  readonly class?: string;
  readonly children: ComponentChildren;
}

export const Card = ({ title, aside, children, class: name }: CardProps) => (
  <section class={`card ${name ?? ""}`} aria-label={title}>
    <header>
      <h2>{title}</h2>
      {aside}
    </header>
    {children}
  </section>
);

interface HeadProps {
  readonly title: ComponentChildren;
  readonly above?: ComponentChildren;
  readonly children?: ComponentChildren;
}

/** The head of a page: where one is, how fresh it is, what can be done. */
export const Head = ({ title, above, children }: HeadProps) => (
  <div class="head">
    <div>
      {above === undefined ? null : <p class="above">{above}</p>}
      <h1 tabIndex={-1}>{title}</h1>
    </div>
    <div class="tools">{children}</div>
  </div>
);
