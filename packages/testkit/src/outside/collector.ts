/** A collector of traces: a real HTTP server that takes OTLP in JSON, and keeps the spans it was sent. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";

export interface CollectedSpan {
  readonly service: string;
  readonly name: string;
  readonly traceId: string;
  readonly spanId: string;
  /** "" = it begins its trace. */
  readonly parentSpanId: string;
  readonly links: readonly { readonly traceId: string; readonly spanId: string }[];
  readonly attributes: Readonly<Record<string, string | number>>;
  readonly failed: boolean;
}

export interface Collector {
  readonly url: string;
  readonly spans: readonly CollectedSpan[];
  close(): Promise<void>;
}

type Value = Readonly<Record<string, string | number>>;
interface Attribute {
  readonly key: string;
  readonly value: Value;
}
interface SentSpan extends Pick<CollectedSpan, "name" | "traceId" | "spanId"> {
  readonly parentSpanId?: string;
  readonly links?: CollectedSpan["links"];
  readonly attributes?: readonly Attribute[];
  readonly status?: { readonly code?: number };
}
interface Sent {
  readonly resourceSpans?: readonly {
    readonly resource: { readonly attributes: readonly Attribute[] };
    readonly scopeSpans: readonly { readonly spans: readonly SentSpan[] }[];
  }[];
}

const STATUS_ERROR = 2;

const plain = (attributes: readonly Attribute[] = []): CollectedSpan["attributes"] =>
  Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0] ?? ""]));

function* spansOf({ resourceSpans = [] }: Sent): Generator<CollectedSpan> {
  for (const { resource, scopeSpans } of resourceSpans) {
    const service = String(plain(resource.attributes)["service.name"]);
    for (const { name, traceId, spanId, parentSpanId, links, attributes, status } of scopeSpans.flatMap(
      (s) => s.spans,
    )) {
      yield {
        service,
        name,
        traceId,
        spanId,
        parentSpanId: parentSpanId ?? "",
        links: (links ?? []).map((link) => ({ traceId: link.traceId, spanId: link.spanId })),
        attributes: plain(attributes),
        failed: status?.code === STATUS_ERROR,
      };
    }
  }
}

export async function startCollector(): Promise<Collector> {
  const spans: CollectedSpan[] = [];
  const server = createServer((request, response) => {
    void text(request).then((body) => {
      if (request.url === "/v1/traces") for (const each of spansOf(JSON.parse(body) as Sent)) spans.push(each);
      response.writeHead(request.url === "/v1/traces" ? 200 : 404, { "content-type": "application/json" }).end("{}");
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    spans,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
