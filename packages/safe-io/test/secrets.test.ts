import { expect, test } from "@jest/globals";

import { displayUrl, redactUrl } from "../src/index.ts";

test.each([
  ["https://me:secret@example.org/a/b?sig=secret#secret", "https://example.org/a/b?…"],
  ["https://example.org:8443/a", "https://example.org:8443/a"],
  ["data:text/plain,secret", "data:…"],
  ["not a URL with secret", "(no URL)"],
])("%s is shown as %s", (url, shown) => expect(displayUrl(url)).toBe(shown));

test("URLs in a foreign text lose their secrets", () => {
  expect(redactUrl('GET "https://a:secret@b.org/c?k=secret" failed, see http://d.org/e')).toBe(
    'GET "https://b.org/c?…" failed, see http://d.org/e',
  );
});
