import { expect, test } from "@jest/globals";
import { allowedImage, parseAllowed, parseReference } from "../src/container/image-reference.ts";

const DIGEST = `sha256:${"ab".repeat(32)}`;
const OTHER = `sha256:${"cd".repeat(32)}`;

test.each([
  ["tool", "docker.io", "library/tool", null, null],
  ["tool:1.2", "docker.io", "library/tool", "1.2", null],
  ["team/tool", "docker.io", "team/tool", null, null],
  ["index.docker.io/tool", "docker.io", "library/tool", null, null],
  ["docker.io/tool", "docker.io", "library/tool", null, null],
  ["registry.example:5000/team/tool:v1", "registry.example:5000", "team/tool", "v1", null],
  ["Registry.Example/tool", "registry.example", "tool", null, null],
  ["localhost/tool", "localhost", "tool", null, null],
  [`ghcr.io/a/b__c/d--e.f@${DIGEST}`, "ghcr.io", "a/b__c/d--e.f", null, DIGEST],
  [`tool:1@${DIGEST}`, "docker.io", "library/tool", "1", DIGEST],
])("%s is read as Docker reads it", (text, registry, repository, tag, digest) => {
  expect(parseReference(text)).toEqual({ registry, repository, tag, digest });
});

test.each([
  ...[
    "",
    "/",
    "a//b",
    "/a",
    "a/",
    "a:",
    "a@",
    "a b",
    "UPPER",
    "a/B",
    "a..b",
    "a___b",
    "-a",
    "a-",
    ".a",
    "a:b:c",
    "a:-x",
  ],
  ...[
    "..",
    "../a",
    "a/../b",
    "a@sha256:12",
    `a@${DIGEST}@${DIGEST}`,
    `a@md5:${"a".repeat(32)}`,
    "a%2fb",
    "a\n",
    "a?tag=b",
  ],
  ...["https://registry.example/a", "user:pass@registry.example/a", "-x.example/a", "x.example:999999/a"],
  ...["ab".repeat(32), DIGEST, "a".repeat(256)],
])("%j names no image", (text) => {
  expect(parseReference(text)).toBeNull();
});

const run = (image: string, ...allowed: string[]): string | null =>
  allowedImage(
    image,
    allowed.map((text) => {
      const entry = parseAllowed(text);
      if (entry === null) throw new Error(`${text} is no entry`);
      return entry;
    }),
  );

test.each([
  // A repository: each tag and digest of it, and nothing that looks like it.
  ["a/b", "a/b", "docker.io/a/b:latest"],
  ["a/b:7", "a/b", "docker.io/a/b:7"],
  [`a/b@${DIGEST}`, "a/b", `docker.io/a/b@${DIGEST}`],
  ["a/b-evil", "a/b", null],
  ["evil/a/b", "a/b", null],
  ["a/b/c", "a/b", null],
  ["evil.example/a/b", "a/b", null],
  ["a.b/c", "a/b", null],
  ["docker.io/a/b", "a/b", "docker.io/a/b:latest"],
  ["tool", "docker.io/library/tool", "docker.io/library/tool:latest"],
  // A tag: this one, and no digest beside it, which Docker would take instead.
  ["a/b:7", "a/b:7", "docker.io/a/b:7"],
  ["a/b:8", "a/b:7", null],
  ["a/b", "a/b:7", null],
  ["a/b", "a/b:latest", "docker.io/a/b:latest"],
  [`a/b:7@${DIGEST}`, "a/b:7", null],
  // A digest: this one alone; its tag stands for it.
  [`a/b@${DIGEST}`, `a/b:7@${DIGEST}`, `docker.io/a/b@${DIGEST}`],
  [`a/b:7@${DIGEST}`, `a/b:7@${DIGEST}`, `docker.io/a/b@${DIGEST}`],
  ["a/b:7", `a/b:7@${DIGEST}`, `docker.io/a/b@${DIGEST}`],
  ["a/b", `a/b@${DIGEST}`, `docker.io/a/b@${DIGEST}`],
  ["a/b:8", `a/b:7@${DIGEST}`, null],
  [`a/b:8@${DIGEST}`, `a/b:7@${DIGEST}`, null],
  [`a/b:7@${OTHER}`, `a/b:7@${DIGEST}`, null],
  [`a/b@${OTHER}`, `a/b@${DIGEST}`, null],
  // All below.
  ["registry.example/team/tool:1", "registry.example/team/*", "registry.example/team/tool:1"],
  ["registry.example/team/deep/tool", "registry.example/team/*", "registry.example/team/deep/tool:latest"],
  ["registry.example/team", "registry.example/team/*", null],
  ["registry.example/team-evil/tool", "registry.example/team/*", null],
  ["registry.example/evil/team/tool", "registry.example/team/*", null],
  ["registry.example.evil.example/team/tool", "registry.example/team/*", null],
  ["registry.example:5000/team/tool", "registry.example/team/*", null],
  ["registry.example/any/tool", "registry.example/*", "registry.example/any/tool:latest"],
  ["team/tool", "team/*", "docker.io/team/tool:latest"],
  ["evil.example/team/tool", "team/*", null],
])("%s under %s is run as %s", (image, allowed, expected) => {
  expect(run(image, allowed)).toBe(expected);
});

test("an image's id names no allowed image, whatever the list says", () => {
  for (const id of ["ab".repeat(32), DIGEST]) expect(run(id, "docker.io/*", "a/*")).toBeNull();
  // A short id could also be a name: the engine is asked for the name, in full.
  expect(run("abcdef", "docker.io/library/*")).toBe("docker.io/library/abcdef:latest");
});

test.each(["*", "a*", "registry.example/team*", "/*", "a/*:1", "*/a", "https://a/*", "A/B", ""])(
  "%j is no entry of the list: it would allow more than it says, or nothing",
  (text) => {
    expect(parseAllowed(text)).toBeNull();
  },
);
