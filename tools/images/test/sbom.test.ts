import { expect, test } from "@jest/globals";
import * as CDX from "@cyclonedx/cyclonedx-library";
import { mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { bomOf } from "../src/sbom/bom.ts";
import { npmPackagesIn } from "../src/sbom/npm-packages.ts";
import { parseStatus } from "../src/sbom/os-packages.ts";

test("finds each package of pnpm's store once, and not what is only linked", async () => {
  const app = await mkdtemp(join(tmpdir(), "sluice-sbom-"));
  const store = join(app, "node_modules", ".pnpm");
  const put = async (key: string, name: string, version: string) => {
    const folder = join(store, key, "node_modules", name);
    await mkdir(folder, { recursive: true });
    await writeFile(join(folder, "package.json"), JSON.stringify({ name, version, license: "MIT" }));
    return folder;
  };
  try {
    const zod = await put("zod@4.6.7", "zod", "4.6.7");
    await put("@libsql+core@1.0.0", "@libsql/core", "1.0.0");
    await symlink(zod, join(store, "@libsql+core@1.0.0", "node_modules", "zod"));
    await put("zod@4.6.7_peer@1.0.0", "zod", "4.6.7");

    const found = await npmPackagesIn(app);
    expect(found.map(({ name, version }) => `${name}@${version}`)).toEqual(["@libsql/core@1.0.0", "zod@4.6.7"]);
  } finally {
    await rm(app, { recursive: true });
  }
});

test("makes a valid CycloneDX document of all that is in an image", async () => {
  const os = parseStatus(
    "Package: libc6\nStatus: install ok installed\nArchitecture: amd64\nVersion: 2.36-9+deb12u14\n",
  );
  const npm = [
    { name: "@sluice/estimator", version: "0.1.0", license: "Apache-2.0" },
    { name: "jose", version: "6.2.17", description: "JWT", license: "(MIT OR Apache-2.0)" },
    { name: "odd", version: "1.0.0", license: "SEE LICENSE IN x" },
  ];
  const content = { name: "sluice/estimator", version: "0.1.0", nodeVersion: "24.21.0", npm, os: [os] };
  const text = bomOf(content);
  expect(bomOf(content)).toBe(text);

  expect(await new CDX.Validation.JsonStrictValidator(CDX.Spec.Version.v1dot6).validate(text)).toBeNull();
  const bom = JSON.parse(text) as { components: { purl: string; licenses?: unknown }[] };
  expect(bom.components.map(({ purl }) => purl).sort()).toEqual([
    "pkg:deb/debian/libc6@2.36-9+deb12u14?arch=amd64",
    "pkg:generic/node@24.21.0",
    "pkg:npm/%40sluice/estimator@0.1.0",
    "pkg:npm/jose@6.2.17",
    "pkg:npm/odd@1.0.0",
  ]);
  expect(bom.components.find(({ purl }) => purl.includes("jose"))?.licenses).toEqual([
    { expression: "(MIT OR Apache-2.0)" },
  ]);
});

test("refuses a package without a version", () => {
  expect(() => parseStatus("Package: libc6\nArchitecture: amd64\n")).toThrow("no Version");
});
