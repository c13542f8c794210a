import { z } from "zod";
import { makeMailbox } from "./mailbox.ts";
import { openHttp, openSmtp } from "./servers.ts";

const port = () => z.coerce.number().int().min(0).max(65_535);

/** The names of the services' own doors, so that one image suits all. */
const config = z
  .object({
    HOST: z.string().default("127.0.0.1"),
    PORT: port().default(1025),
    METRICS_HOST: z.string().default("127.0.0.1"),
    METRICS_PORT: port().default(8025),
    MAILS_MAX: z.coerce.number().int().min(1).default(1_000),
  })
  .parse(process.env);

const mailbox = makeMailbox(config.MAILS_MAX);
const doors = await Promise.all([
  openSmtp(mailbox, config.HOST, config.PORT),
  openHttp(mailbox, config.METRICS_HOST, config.METRICS_PORT),
]);
for (const signal of ["SIGTERM", "SIGINT"] as const) {
  process.once(signal, () => void Promise.all(doors.map((door) => door.close())).then(() => process.exit(0)));
}
console.log(`mails to port ${doors[0].port}, to be seen at port ${doors[1].port}/messages`);
