/** A JSON schema for people. */
import type { JsonSchema } from "../openapi/json-schema.ts";
import { type Html, html, prose } from "./html.ts";

const REF = "#/components/schemas/";

/** In a few words: `integer 1…200`, `array of Job`, `"add" | "update"`, `string or null`. */
export function typeOf(schema: JsonSchema): Html {
  const { $ref: ref, enum: values, const: only, anyOf, oneOf, type, items, format } = schema;
  if (typeof ref === "string" && ref.startsWith(REF)) {
    const name = ref.slice(REF.length);
    return html`<a href="#schema-${name}">${name}</a>`;
  }
  if (only !== undefined) return html`<code>${JSON.stringify(only)}</code>`;
  if (Array.isArray(values))
    return joined(
      values.map((value) => html`<code>${String(value)}</code>`),
      " | ",
    );
  const choices = Array.isArray(anyOf) ? anyOf : Array.isArray(oneOf) ? oneOf : null;
  if (choices !== null)
    return joined(
      choices.map((one) => typeOf(one as JsonSchema)),
      " or ",
    );
  if (type === "array") return html`array of ${typeOf((items ?? {}) as JsonSchema)}`;
  const name = typeof type === "string" ? type : "anything";
  return html`${name}${typeof format === "string" ? ` (${format})` : ""}${rangeOf(schema)}`;
}

function rangeOf({ minimum, maximum, default: otherwise }: JsonSchema): string {
  const range =
    typeof minimum === "number" && typeof maximum === "number"
      ? ` ${minimum}…${maximum}`
      : typeof minimum === "number" && minimum !== 0
        ? ` from ${minimum}`
        : "";
  return range + (otherwise === undefined ? "" : `, ${JSON.stringify(otherwise)} if absent`);
}

const joined = (parts: readonly Html[], by: string): Html =>
  html`${parts.map((part, i) => (i === 0 ? part : html`${by}${part}`))}`;

/** The properties of an object, one row each; of anything else its type. */
export function schemaView(schema: JsonSchema, caption: string): Html {
  const properties = propertiesOf(schema);
  if (properties.length === 0) return html`<p>${caption}: ${typeOf(schema)}</p>`;
  // A named schema with some fields added: the name stands for the others.
  if (schema["$ref"] !== undefined) return schemaAndMore(schema, caption);
  return html`<table>
    <caption>
      ${caption}
    </caption>
    <thead>
      <tr>
        <th scope="col">Field</th>
        <th scope="col">Type</th>
        <th scope="col">Meaning</th>
      </tr>
    </thead>
    <tbody>
      ${properties.map(
        ({ name, required, schema: one }) =>
          html`<tr>
            <th scope="row"><code>${name}</code>${required ? html` <span class="required">required</span>` : null}</th>
            <td>${typeOf(one)}</td>
            <td>${prose(typeof one["description"] === "string" ? one["description"] : "")}${inner(one, name)}</td>
          </tr>`,
      )}
    </tbody>
  </table>`;
}

function schemaAndMore({ $ref, ...more }: JsonSchema, caption: string): Html {
  return html`<p>${caption}: ${typeOf({ $ref })}, and</p>
    ${schemaView(more, "Fields besides")}`;
}

/** Objects without a name are shown where they stand. */
function inner(schema: JsonSchema, name: string): Html | null {
  const object = schema["type"] === "array" ? ((schema["items"] ?? {}) as JsonSchema) : schema;
  if (propertiesOf(object).length === 0) return null;
  return html`<details>
    <summary>its fields</summary>
    ${schemaView(object, `Fields of ${name}`)}
  </details>`;
}

interface Property {
  readonly name: string;
  readonly required: boolean;
  readonly schema: JsonSchema;
}

function propertiesOf({ properties, required }: JsonSchema): readonly Property[] {
  if (typeof properties !== "object" || properties === null) return [];
  const needed: readonly unknown[] = Array.isArray(required) ? required : [];
  return Object.entries(properties).map(([name, schema]) => ({
    name,
    required: needed.includes(name),
    schema: schema as JsonSchema,
  }));
}
