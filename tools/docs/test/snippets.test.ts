/** What a reader copies out of a document compiles. */
import { describe, expect, test } from "@jest/globals";
import { compile, snippetsIn, snippetsOf } from "./snippets.ts";

const CODE = ["ts", "tsx", "typescript", "js", "mjs", "javascript"];

describe("the code in the documents", () => {
  test("compiles, as strictly as ours", async () => {
    const snippets = await snippetsOf(CODE);
    expect(snippets.length).toBeGreaterThan(30);
    expect(await compile(snippets)).toEqual([]);
  });

  test("takes nothing for granted but what has a type", async () => {
    const snippets = await snippetsOf(CODE);
    const loose = snippets.filter(({ given }) => /\b(?:any|unknown)\b(?! =)/.test(given));
    expect(loose.map(({ place }) => place)).toEqual([]);
  });

  test("is met with an error where it names what nobody declares", async () => {
    const text = ["# Client", "", "```ts", "const answer: number = await ask();", "```", ""].join("\n");
    const [error = ""] = await compile(snippetsIn("packages/client/README.md", text));
    expect(error).toMatch(/^packages\/client\/README\.md:3\(.*Cannot find name 'ask'/);
  });
});

describe("the JSON in the documents", () => {
  test("is JSON", async () => {
    const wrong = (await snippetsOf(["json"])).filter(({ code }) => !isJson(code));
    expect(wrong.map(({ place }) => place)).toEqual([]);
  });
});

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
