/** The pipeline as a picture: basins with what waits in them, who works there, and how long the oldest has waited. */
import type { Overview } from "@sluice/wire";
import { useEffect, useState } from "preact/hooks";
import { count, duration, many } from "../format.ts";
import { follow } from "../router.tsx";
import { useModel } from "../session.tsx";
import { SIGNS, toneOfState } from "../ui/tones.ts";
import { type Basin, flowOf } from "./flow.ts";

const NARROW = "(max-width: 780px)";

function useNarrow(): boolean {
  const [narrow, setNarrow] = useState(() => matchMedia(NARROW).matches);
  useEffect(() => {
    const list = matchMedia(NARROW);
    const changed = (): void => setNarrow(list.matches);
    list.addEventListener("change", changed);
    return () => list.removeEventListener("change", changed);
  }, []);
  return narrow;
}

export function Pipeline({ now }: { readonly now: Overview }) {
  const narrow = useNarrow();
  const { width, height, basins, channels } = flowOf(useModel(), now, narrow);
  return (
    <svg
      class={narrow ? "flow tall" : "flow"}
      viewBox={`0 0 ${width} ${height}`}
      role="group"
      aria-label="The pipeline"
    >
      <defs>
        <marker id="arrow" viewBox="0 0 6 6" refX="5" refY="3" markerWidth="4.5" markerHeight="4.5" orient="auto">
          <path d="M0 0L6 3L0 6Z" />
        </marker>
      </defs>
      {channels.map(({ path, aside, flowing }) => (
        <path
          key={path}
          class={`channel ${aside ? "aside" : ""} ${flowing ? "flowing" : ""}`}
          d={path}
          marker-end="url(#arrow)"
        />
      ))}
      {basins.map((basin) => (
        <BasinOf key={basin.state} basin={basin} narrow={narrow} paused={now.queue_paused !== null} />
      ))}
    </svg>
  );
}

interface BasinProps {
  readonly basin: Basin;
  readonly narrow: boolean;
  readonly paused: boolean;
}

function wordsOf({ jobs, stage }: Basin, stopped: boolean): readonly string[] {
  if (stage === null) return [];
  const oldest = stage.oldest_ready_seconds;
  const workers = stage.workers === 0 ? (jobs > 0 ? "no worker!" : "no worker") : many(stage.workers, "worker");
  const waits = stage.in_hand > 0 ? `${count(stage.in_hand)} in hand` : "";
  return [stopped ? "‖ paused" : workers, oldest > 0 ? `oldest ${duration(oldest)}` : waits];
}

function BasinOf({ basin, narrow, paused }: BasinProps) {
  const { state, says, jobs, x, y, width, height, stage, level } = basin;
  const stopped = stage !== null && (paused || stage.paused !== null);
  const tone = toneOfState(state);
  const words = wordsOf(basin, stopped);
  const alarming = stage?.workers === 0 && jobs > 0;
  const to = `/jobs?state=${encodeURIComponent(state)}`;
  const water = Math.round(height * level);
  const spoken = [`${state}: ${many(jobs, "job")}`, ...words.filter((word) => word !== "")].join(", ");
  return (
    <a
      href={to}
      class={`basin ${tone} ${stopped ? "stopped" : ""}`}
      aria-label={spoken}
      onClick={(event) => follow(event, to)}
    >
      <title>{`${state}: ${says}`}</title>
      <rect class="wall" x={x} y={y} width={width} height={height} rx="9" />
      <clipPath id={`clip-${state}`}>
        <rect x={x} y={y} width={width} height={height} rx="9" />
      </clipPath>
      {narrow ? (
        <rect
          class="water"
          clip-path={`url(#clip-${state})`}
          x={x}
          y={y}
          width={Math.round(width * level)}
          height={height}
        />
      ) : (
        <rect
          class="water"
          clip-path={`url(#clip-${state})`}
          x={x}
          y={y + height - water}
          width={width}
          height={water}
        />
      )}
      <text class="name" x={x + 11} y={y + 22}>
        {stage === null ? `${SIGNS[tone]} ${state}` : state}
      </text>
      <text
        class="jobs"
        x={narrow ? x + width - 12 : x + 11}
        y={narrow ? y + 40 : y + 51}
        text-anchor={narrow ? "end" : "start"}
      >
        {count(jobs)}
      </text>
      {words.map((word, i) => (
        <text
          key={i}
          class={`word ${alarming && i === 0 ? "bad" : ""} ${stopped && i === 0 ? "warn" : ""}`}
          x={narrow ? x + 11 + i * 110 : x + 11}
          y={narrow ? y + 44 : y + 75 + i * 16}
        >
          {word}
        </text>
      ))}
    </a>
  );
}
