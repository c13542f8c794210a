import { Validator } from "@seriousme/openapi-schema-validator";

/** What is wrong with a document, by the published schema of its OpenAPI version; nothing = it is valid. */
export async function validate(document: unknown): Promise<unknown> {
  const result = await new Validator().validate(JSON.parse(JSON.stringify(document)) as Record<string, unknown>);
  return result.valid ? [] : result.errors;
}
