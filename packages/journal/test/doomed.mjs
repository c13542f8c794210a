/** Appends and consumes, says what it was told, and dies at a failpoint: `doomed.mjs FOLDER STEP TIMES`. */
import { writeSync } from "node:fs";
import { openJournal } from "../dist/index.js";

const [folder, doom, times] = process.argv.slice(2);
let left = Number(times);

const opened = await openJournal({
  folder,
  maxRecords: 1_000,
  maxBytes: 1_000_000,
  segmentBytes: 100,
  clock: { nowMs: Date.now },
  failpoint: (step) => {
    if (step === doom && --left === 0) process.kill(process.pid, "SIGKILL");
    return Promise.resolve();
  },
});
if (!opened.ok) throw new Error(opened.problem);

const say = (what, number) => writeSync(1, `${what} ${number}\n`);
for (let i = 1; i <= 30; i++) {
  const answer = await opened.journal.append(Buffer.from(`record ${i}`));
  if (answer.kind === "appended") say("appended", answer.number);
  if (i % 4 !== 0) continue;
  await opened.journal.consume(i - 1);
  say("consumed", i - 1);
}
