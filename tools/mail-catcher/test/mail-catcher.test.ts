import { afterAll, expect, test } from "@jest/globals";
import { createTransport } from "nodemailer";
import { makeMailbox } from "../src/mailbox.ts";
import { openHttp, openSmtp } from "../src/servers.ts";

const mailbox = makeMailbox(2);
const smtp = await openSmtp(mailbox, "127.0.0.1", 0);
const http = await openHttp(mailbox, "127.0.0.1", 0);
const transport = createTransport({ host: "127.0.0.1", port: smtp.port, secure: false });
const get = async (path: string) => await fetch(`http://127.0.0.1:${http.port}${path}`);

afterAll(async () => {
  transport.close();
  await Promise.all([smtp.close(), http.close()]);
});

test("keeps the last mails, lists them, and shows each as it came", async () => {
  for (const n of [1, 2, 3]) {
    await transport.sendMail({ from: "a@example.org", to: "b@example.org", subject: `report ${n}`, text: `body ${n}` });
  }
  const envelope = { from: "a@example.org", to: ["b@example.org"] };
  expect(await (await get("/messages")).json()).toEqual({
    messages: [
      { id: 2, ...envelope, subject: "report 2" },
      { id: 3, ...envelope, subject: "report 3" },
    ],
  });
  const shown = await get("/messages/3");
  expect(shown.headers.get("content-type")).toBe("text/plain; charset=utf-8");
  expect(await shown.text()).toContain("body 3");
  expect((await get("/messages/1")).status).toBe(404);
  expect((await get("/readyz")).status).toBe(200);
});
