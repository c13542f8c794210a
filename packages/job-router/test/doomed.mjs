/** A router as a process of its own, from what was built. It can be killed; SIGTERM stops it in order. */
import { openJobRouter } from "@sluice/job-router";
import { keepSession, systemClock } from "@sluice/zookeeper";

const [connect, apiId] = process.argv.slice(2);
const session = keepSession({ connect, timeoutMs: 30_000 });
const tell = (fields, message) => process.stdout.write(`${message} ${JSON.stringify(fields)}\n`);
const router = await openJobRouter({
  apiId,
  session,
  peers: { listen: { host: "127.0.0.1", port: 0 }, secret: "a secret of the test" },
  clock: systemClock,
  later: (ms, wake) => {
    const timer = setTimeout(wake, ms);
    return () => clearTimeout(timer);
  },
  log: { info: tell, warn: tell, error: tell },
});
process.once("SIGTERM", async () => {
  await router.stop();
  await session.close();
});
