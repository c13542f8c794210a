/** The page that shows an OpenAPI document: whole without a script, which only adds the forms. */
import type { OpenApiDocument } from "../openapi/document.ts";
import { html, prose } from "./html.ts";
import { operationView, type ShownOperation } from "./operation-view.ts";
import { schemaView } from "./schema-view.ts";

export function docsPage({ info, tags, paths, components }: OpenApiDocument): string {
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]): ShownOperation => ({ method, path, operation })),
  );
  const groups = tags.map((tag) => ({
    ...tag,
    operations: operations.filter(({ operation }) => operation.tags.includes(tag.name)),
  }));
  const schemas = Object.entries(components.schemas);
  return html`<!DOCTYPE html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <title>${info.title}</title>
        <link rel="stylesheet" href="docs/docs.css" />
        <script src="docs/try-it.js" defer></script>
      </head>
      <body>
        <a class="skip" href="#content">Skip to the operations</a>
        <nav aria-label="Operations">
          <p class="name">${info.title}</p>
          ${groups.map(
            ({ name, operations: some }) =>
              html`<h2>${name}</h2>
                <ul>
                  ${some.map(
                    ({ method, path, operation }) =>
                      html`<li>
                        <a href="#${operation.operationId}"
                          ><span class="method ${method}">${method.toUpperCase()}</span> ${path}</a
                        >
                      </li>`,
                  )}
                </ul>`,
          )}
          <h2>Schemas</h2>
          <ul>
            ${schemas.map(([name]) => html`<li><a href="#schema-${name}">${name}</a></li>`)}
          </ul>
        </nav>
        <main id="content">
          <h1>${info.title} <small>${info.version}</small></h1>
          ${info.description.split("\n\n").map((text) => html`<p>${prose(text)}</p>`)}
          <p>As a document for machines: <a href="openapi.json">openapi.json</a> (OpenAPI 3.1).</p>
          ${groups.map(
            ({ name, description, operations: some }) =>
              html`<h2>${name}</h2>
                <p>${prose(description)}</p>
                ${some.map(operationView)}`,
          )}
          <h2>Schemas</h2>
          ${schemas.map(
            ([name, schema]) =>
              html`<section class="schema" id="schema-${name}">
                <h3>${name}</h3>
                ${
                  typeof schema["description"] === "string" ? html`<p>${prose(schema["description"])}</p>` : null
                }${schemaView(schema, `Fields of ${name}`)}
              </section>`,
          )}
        </main>
      </body>
    </html> `.text;
}
