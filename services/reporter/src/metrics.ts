import { makeInstruments, type MetricSpec } from "@sluice/stage-runtime";
import type { Registry } from "prom-client";
import type { PostmanParts } from "./postman.ts";

export const REPORTER_METRICS = {
  mails: {
    type: "counter",
    name: "sluice_mail_sent_total",
    help: "Reports to be mailed, by outcome: sent, later, refused, nobody (no address to send to)",
    labels: ["outcome"],
    exportedBy: "each worker",
  },
} as const satisfies Record<string, MetricSpec>;

export function countMails(registry: Registry): NonNullable<PostmanParts["onMail"]> {
  const { mails } = makeInstruments(REPORTER_METRICS, registry);
  return (outcome) => mails.inc({ outcome });
}
