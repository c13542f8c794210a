/** One operation on the page: what it takes, what it answers, how to call it, and a form to try it. */
import type { DocumentOperation, DocumentParameter, DocumentResponse } from "../openapi/document.ts";
import { type Html, html, prose } from "./html.ts";
import { schemaView, typeOf } from "./schema-view.ts";

export interface ShownOperation {
  readonly method: string;
  readonly path: string;
  readonly operation: DocumentOperation;
}

export function operationView({ method, path, operation }: ShownOperation): Html {
  const { operationId: id, summary, description, parameters = [], requestBody, responses } = operation;
  const name = `${method.toUpperCase()} ${path}`;
  return html`<section class="operation" id="${id}" aria-labelledby="${id}-title">
    <h3 id="${id}-title"><span class="method ${method}">${method.toUpperCase()}</span> <code>${path}</code></h3>
    <p class="summary">${prose(summary)}</p>
    ${description === undefined ? null : description.split("\n\n").map((text) => html`<p>${prose(text)}</p>`)}
    ${parameters.length === 0 ? null : parameterTable(parameters, name)}
    ${Object.entries(requestBody?.content ?? {}).map(([type, { schema }]) => schemaView(schema, `Body as ${type}`))}
    ${responseTable(responses, name)}
    <figure>
      <figcaption>With curl</figcaption>
      <pre tabindex="0"><code>${curlOf(method, path, operation)}</code></pre>
    </figure>
    ${tryForm({ method, path, operation })}
  </section>`;
}

const parameterTable = (parameters: readonly DocumentParameter[], name: string): Html =>
  html`<table>
    <caption>
      Parameters of ${name}
    </caption>
    <thead>
      <tr>
        <th scope="col">Name</th>
        <th scope="col">In</th>
        <th scope="col">Type</th>
        <th scope="col">Meaning</th>
      </tr>
    </thead>
    <tbody>
      ${parameters.map(
        (one) =>
          html`<tr>
            <th scope="row">
              <code>${one.name}</code>${one.required ? html` <span class="required">required</span>` : null}
            </th>
            <td>${one.in}</td>
            <td>${typeOf(one.schema)}</td>
            <td>${prose(one.description ?? "")}</td>
          </tr>`,
      )}
    </tbody>
  </table>`;

const responseTable = (responses: Readonly<Record<string, DocumentResponse>>, name: string): Html =>
  html`<table>
    <caption>
      Answers of ${name}
    </caption>
    <thead>
      <tr>
        <th scope="col">Status</th>
        <th scope="col">Meaning</th>
        <th scope="col">Body</th>
      </tr>
    </thead>
    <tbody>
      ${Object.entries(responses).map(
        ([status, { description, content = {} }]) =>
          html`<tr>
            <th scope="row">${status}</th>
            <td>${prose(description)}</td>
            <td>
              ${Object.entries(content).map(([type, { schema }]) => html`<div><code>${type}</code> ${typeOf(schema)}</div>`)}
            </td>
          </tr>`,
      )}
    </tbody>
  </table>`;

function curlOf(method: string, path: string, { requestBody, responses }: DocumentOperation): string {
  const url = `"$BASE${path.replaceAll(/\{(\w+)\}/g, (_, name: string) => `$${name.toUpperCase()}`)}"`;
  const streams = Object.values(responses).every(({ content = {} }) => !("application/json" in content));
  const verb =
    method === "get"
      ? streams && "text/event-stream" in contentOf(responses)
        ? ["-N"]
        : []
      : [`-X ${method.toUpperCase()}`];
  const json = requestBody?.content["application/json"];
  if (json !== undefined) {
    const data = JSON.stringify(json.example ?? {}).replaceAll("'", "'\\''");
    return `curl ${url} -H 'content-type: application/json' \\\n  -d '${data}'`;
  }
  if (requestBody?.content["multipart/form-data"] !== undefined) return `curl ${url} -F profile=PROFILE -F file=@FILE`;
  return ["curl", ...verb, url].join(" ");
}

const contentOf = (responses: Readonly<Record<string, DocumentResponse>>): object => responses["200"]?.content ?? {};

/** Hidden until the script has made it work. Forms with files are for curl. */
function tryForm({ method, path, operation }: ShownOperation): Html | null {
  const { operationId: id, parameters = [], requestBody } = operation;
  const json = requestBody?.content["application/json"];
  if (requestBody !== undefined && json === undefined) return null;
  return html`<details class="try" hidden>
    <summary>Try it</summary>
    <form data-method="${method}" data-path="${path}" aria-label="Try ${id}">
      ${parameters.map((one) => field(id, one))}
      ${json === undefined ? null : html`<p><label for="${id}-body">Body</label><textarea id="${id}-body" name="body" rows="6" spellcheck="false">${JSON.stringify(json.example ?? {}, null, 2)}</textarea></p>`}
      <p><button type="submit">Send</button> <button type="button" class="stop" hidden>Stop</button></p>
      <pre class="answer" role="status" aria-live="polite" tabindex="0" hidden></pre>
    </form>
  </details>`;
}

function field(id: string, { name, in: place, required, schema }: DocumentParameter): Html {
  const key = `${id}-${name}`;
  const choices: readonly unknown[] = Array.isArray(schema["enum"]) ? schema["enum"] : [];
  const input =
    choices.length === 0
      ? html`<input id="${key}" name="${name}" data-in="${place}" autocomplete="off" ${required ? "required" : ""} />`
      : html`<select id="${key}" name="${name}" data-in="${place}">
          <option value=""></option>
          ${choices.map((one) => html`<option>${String(one)}</option>`)}
        </select>`;
  return html`<p><label for="${key}">${name}</label>${input}</p>`;
}
