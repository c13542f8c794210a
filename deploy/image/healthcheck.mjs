/** Docker's health check: is the service ready for work? An image without a shell has no curl either. */
const port = process.env.METRICS_PORT;
const host = process.env.METRICS_HOST === "0.0.0.0" ? "127.0.0.1" : process.env.METRICS_HOST;

const answer = await fetch(`http://${host}:${port}/readyz`).catch((error) => ({
  ok: false,
  text: () => error.message,
}));
// Docker keeps what is printed: it says which check failed.
if (!answer.ok) console.log(await answer.text());
process.exit(answer.ok ? 0 : 1);
