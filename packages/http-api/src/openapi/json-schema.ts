/** zod schemas as the schemas of an OpenAPI 3.1 document: named ones once, under components, the others in place. */
import { z } from "zod";

export type JsonSchema = Readonly<Record<string, unknown>>;

export interface SchemaBook {
  /** `input`: what a client may send. `output`: what it gets. */
  schemaOf(schema: z.ZodType, direction: "input" | "output"): JsonSchema;
  /** Everything that was named by `.meta({ id })`, so far. */
  components(): Readonly<Record<string, JsonSchema>>;
}

export function makeSchemaBook(): SchemaBook {
  const named = new Map<string, string>();
  return {
    schemaOf(schema, direction) {
      // In a wrapper, so that a named schema is a reference here too.
      const whole = z.toJSONSchema(z.object({ it: schema }), {
        io: direction,
        unrepresentable: "any",
        override: ({ jsonSchema }) => tidy(jsonSchema, direction),
      });
      for (const [id, definition] of Object.entries(whole.$defs ?? {})) {
        const { id: _id, ...rest } = definition;
        const text = JSON.stringify(moved(rest));
        if ((named.get(id) ?? text) !== text) throw new Error(`two schemas are called ${id}`);
        named.set(id, text);
      }
      return moved(whole.properties?.["it"] ?? {});
    },
    components: () =>
      Object.fromEntries(
        [...named].sort(([a], [b]) => (a < b ? -1 : 1)).map(([id, text]) => [id, JSON.parse(text) as JsonSchema]),
      ),
  };
}

/** Clients must ignore what they do not know in an answer; patterns that say what `format` says are noise. */
function tidy(schema: z.core.JSONSchema.BaseSchema, direction: "input" | "output"): void {
  if (direction === "output" && schema.additionalProperties === false) delete schema.additionalProperties;
  if (schema.format !== undefined) delete schema.pattern;
  if (schema.maximum === Number.MAX_SAFE_INTEGER) delete schema.maximum;
  if (schema.minimum === Number.MIN_SAFE_INTEGER) delete schema.minimum;
}

const moved = (schema: unknown): JsonSchema =>
  JSON.parse(JSON.stringify(schema).replaceAll('"#/$defs/', '"#/components/schemas/')) as JsonSchema;
