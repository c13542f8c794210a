import { ADMIN } from "@sluice/wire";
import { count, duration } from "../format.ts";
import { useAnswer } from "../load.ts";
import { useModel } from "../session.tsx";
import { Card, Nothing } from "../ui/bits.tsx";
import { Chart } from "../ui/chart.tsx";
import { type Minutes, minutesOf } from "./samples.ts";

export function LastHour() {
  const model = useModel();
  const { value } = useAnswer(ADMIN.history, { query: { minutes: 60 } }, { everyMs: 15_000 });
  const minutes = value === null ? null : minutesOf(value.samples, model);
  return (
    <Card title="The last hour">
      {minutes === null ? (
        <Nothing>The charts begin with the first look of the service at its fleet, every ten seconds.</Nothing>
      ) : (
        <>
          <div class="charts">
            <Chart
              title="Ended per minute"
              kind="bars"
              times={minutes.times}
              unit={count}
              series={[
                { name: "completed", tone: "good", values: minutes.completed },
                { name: "failed", tone: "bad", values: minutes.failed },
              ]}
            />
            <Chart
              title="On their way"
              kind="line"
              times={minutes.times}
              unit={count}
              series={[{ name: "jobs", tone: "active", values: minutes.waiting }]}
            />
            <Chart
              title="Oldest ready job"
              kind="line"
              times={minutes.times}
              unit={duration}
              series={[{ name: "age", tone: "warn", values: minutes.oldest }]}
            />
          </div>
          <InNumbers minutes={minutes} />
        </>
      )}
    </Card>
  );
}

const InNumbers = ({ minutes: { times, completed, failed, waiting, oldest } }: { readonly minutes: Minutes }) => (
  <details>
    <summary>In numbers</summary>
    <div class="scroll">
      <table>
        <caption class="spoken">The last hour by the minute</caption>
        <thead>
          <tr>
            {["Minute", "Completed", "Failed", "On their way", "Oldest ready"].map((name) => (
              <th key={name} scope="col">
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {times.map((at, i) =>
            waiting[i] == null ? null : (
              <tr key={at}>
                <td data-name="Minute">{new Date(at).toLocaleTimeString("en-GB").slice(0, 5)}</td>
                <td data-name="Completed">{count(completed[i] ?? 0)}</td>
                <td data-name="Failed">{count(failed[i] ?? 0)}</td>
                <td data-name="On their way">{count(waiting[i] ?? 0)}</td>
                <td data-name="Oldest ready">{duration(oldest[i] ?? 0)}</td>
              </tr>
            ),
          )}
        </tbody>
      </table>
    </div>
  </details>
);
