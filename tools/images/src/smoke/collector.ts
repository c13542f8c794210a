/** Where spans are sent: counts them by the service that they come from. */
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { json } from "node:stream/consumers";
import { z } from "zod";

export interface Collector {
  /** For OTEL_EXPORTER_OTLP_ENDPOINT. */
  readonly url: string;
  readonly services: ReadonlySet<string>;
  close(): Promise<void>;
}

const Attribute = z.object({ key: z.string(), value: z.object({ stringValue: z.string().optional() }) });
const Spans = z.object({
  resourceSpans: z.array(z.object({ resource: z.object({ attributes: z.array(Attribute) }) })),
});

export async function startCollector(): Promise<Collector> {
  const services = new Set<string>();
  const server = createServer((request, response) => {
    void json(request)
      .then((body) => {
        const attributes = Spans.parse(body).resourceSpans.flatMap(({ resource }) => resource.attributes);
        for (const { key, value } of attributes)
          if (key === "service.name" && value.stringValue !== undefined) services.add(value.stringValue);
        response.setHeader("content-type", "application/json").end("{}");
      })
      .catch(() => response.writeHead(400).end());
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    services,
    close: async () => {
      const closed = once(server, "close");
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}
