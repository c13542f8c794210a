import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";

import {
  arkLockName,
  batchPriority,
  clampPriority,
  detectPayloadType,
  DIGEST_ALGORITHMS,
  DIGEST_HEX_LENGTH,
  hasValidCheckCharacter,
  isBatchType,
  MANIFEST_KINDS,
  manifestKindOf,
  mergeLocalIds,
  mintNoidArk,
  noidCapacity,
  noidCheckCharacter,
  parseArk,
  parseObjectArk,
  parseDigest,
  parseDigestAlgorithm,
  parseLocalIds,
  parsePayloadType,
  printArk,
} from "../src/index.ts";

describe("ARK", () => {
  test.each(["ark:/99999/fk4xw4m06q", "ark:/7777/7777", "ark:/13030/m5rn35s8/producer/a.txt", "ark:/b5060/d8xyz"])(
    "%s is one, and is printed as it was",
    (text) => {
      const ark = parseArk(text);
      expect(ark.ok && printArk(ark.value)).toBe(text);
    },
  );

  test("may lack the slash, but is printed with it", () => {
    const ark = parseArk("ark:99999/fk4");
    expect(ark.ok && printArk(ark.value)).toBe("ark:/99999/fk4");
  });

  test.each([
    "",
    "ark:",
    "ark:/",
    "ark:/99999",
    "ark:/99999/",
    "doi:10.5/x",
    "ark:/1/a b",
    "ark:/1/a\n",
    "ark:/1/\0",
    `ark:/1/${"a".repeat(300)}`,
  ])("%j is none", (text) =>
    expect(parseArk(text)).toMatchObject({ ok: false, problems: [{ code: "ARK_MALFORMED" }] }),
  );

  test.each([
    "ark:/99999/fk4hers",
    "ark:99999/fk4hers",
    "ARK:/99999/fk4hers",
    "Ark:99999/fk4-hers",
    "ark:/99999/-f-k4-hers-",
    "ark:/99999/fk4hers/",
    "ark:/99999/fk4-hers-/",
  ])("of an object is one, whichever way it is written: %s", (text) => {
    const ark = parseObjectArk(text);
    expect(ark.ok && printArk(ark.value)).toBe("ark:/99999/fk4hers");
  });

  test("has letters, small and large, that differ in the name, and do not in the number", () => {
    const printed = ["ark:/B5060/Dx", "ark:/b5060/dx"].map((text) => {
      const ark = parseObjectArk(text);
      return ark.ok && printArk(ark.value);
    });
    expect(printed).toEqual(["ark:/b5060/Dx", "ark:/b5060/dx"]);
  });

  test.each([
    ["ark:/99999/fk4hers/..", "a part"],
    ["ark:/99999/fk4hers/.", "a part"],
    ["ark:/99999/fk4hers//", "a part"],
    ["ark:/99999/fk4hers/producer/a.txt", "a part"],
    ["ark:/99999/fk4hers.v2", "a part"],
    ["ark:/99999/fk4%68ers", "%"],
    ["ark:/99999/---", "is no ARK"],
    ["ark:/99999/../fk4hers", "is no ARK"],
    ["doi:10.5/x", "is no ARK"],
  ])("%s is not that of an object, and it is said why", (text, why) => {
    const ark = parseObjectArk(text);
    expect(ark).toMatchObject({ ok: false, problems: [{ code: "ARK_MALFORMED" }] });
    expect(!ark.ok && ark.problems[0]?.message).toContain(why);
  });

  test("becomes the lock name that Merritt's libraries use", () => {
    expect(arkLockName("ark:/99999/fk4555")).toBe("ark_99999_fk4555");
  });
});

describe("NOID", () => {
  test("check characters agree with published ARKs", () => {
    // From the NOID documentation and from ARKs minted by EZID.
    expect(noidCheckCharacter("13030/xf93gt2")).toBe("q");
    expect(hasValidCheckCharacter("ark:/13030/xf93gt2q")).toBe(true);
  });

  const template = { naan: "99999", shoulder: "fk4", mask: "eedeede" };

  test("every minted ARK is valid, has its check character, and differs from the others", () => {
    const numbers = fc.uniqueArray(fc.bigInt({ min: 0n, max: noidCapacity(template.mask) - 1n }), { minLength: 2 });
    fc.assert(
      fc.property(numbers, (chosen) => {
        const arks = chosen.map((number) => mintNoidArk(template, number)).map((ark) => (ark.ok ? ark.value : ""));
        expect(new Set(arks).size).toBe(chosen.length);
        for (const ark of arks) expect([parseArk(ark).ok, hasValidCheckCharacter(ark)]).toEqual([true, true]);
      }),
    );
  });

  test("one wrong character or two swapped ones are always found", () => {
    const digits = "0123456789bcdfghjkmnpqrstvwxz";
    const ark = mintNoidArk(template, 123_456_789n);
    const name = ark.ok ? ark.value.slice("ark:/".length) : "";
    for (let i = "99999/".length; i < name.length; i += 1) {
      for (const digit of digits) {
        const wrong = name.slice(0, i) + digit + name.slice(i + 1);
        expect(hasValidCheckCharacter(wrong)).toBe(wrong === name);
      }
      const swapped = name.slice(0, i - 1) + name.charAt(i) + name.charAt(i - 1) + name.slice(i + 1);
      if (i > "99999/".length) expect(hasValidCheckCharacter(swapped)).toBe(swapped === name);
    }
  });

  test("a template that is used up says so", () => {
    expect(noidCapacity("ed")).toBe(290n);
    expect(mintNoidArk({ ...template, mask: "ed" }, 289n).ok).toBe(true);
    expect(mintNoidArk({ ...template, mask: "ed" }, 290n)).toMatchObject({ problems: [{ code: "NOID_EXHAUSTED" }] });
    expect(mintNoidArk({ ...template, mask: "ex" }, 0n)).toMatchObject({ problems: [{ code: "NOID_MASK_MALFORMED" }] });
  });
});

describe("digests", () => {
  test.each(["Adler-32", "CRC-32", "MD5", "SHA-1", "sha256", "SHA-384", "Sha-512"])("%s is known", (name) => {
    expect(parseDigestAlgorithm(name).ok).toBe(true);
  });

  test("md2 is refused with the reason", () => {
    const result = parseDigestAlgorithm("MD2");
    expect(!result.ok && result.problems[0]!.message).toMatch(/md2 is not supported/);
  });

  test.each(DIGEST_ALGORITHMS)("a %s value has its length, in any case", (algorithm) => {
    const length = DIGEST_HEX_LENGTH[algorithm];
    expect(parseDigest(algorithm, "A".repeat(length))).toEqual({
      ok: true,
      value: { algorithm, value: "a".repeat(length) },
    });
    expect(parseDigest(algorithm, "a".repeat(length - 1)).ok).toBe(false);
    expect(parseDigest(algorithm, "g".repeat(length)).ok).toBe(false);
  });
});

test("local ids are trimmed and told once", () => {
  expect(parseLocalIds("localid;localid; localid ;localidtwo;;localidtwo")).toEqual(["localid", "localidtwo"]);
  expect(mergeLocalIds(["four", "five"], ["one", "five"])).toEqual(["four", "five", "one"]);
});

describe("priority", () => {
  test.each([
    [0, 5],
    [1, 5],
    [2, 11],
    [10, 28],
    [1000, 74],
    [50_000, 99],
  ])("a batch of %i objects gets %i", (size, priority) => expect(batchPriority(size)).toBe(priority));

  test("the profile's word counts, within the two digits there are", () => {
    expect([batchPriority(1000, 2), batchPriority(1, 250), batchPriority(1, -1)]).toEqual([2, 99, 0]);
    expect([clampPriority(99 + 10), clampPriority(12.9), clampPriority(Number.NaN)]).toEqual([99, 12, 99]);
  });
});

describe("payload type", () => {
  test.each([
    ["manifest", "object-manifest"],
    ["Object-Manifest", "object-manifest"],
    ["batchManifestFile", "single-file-batch-manifest"],
    ["container", "container"],
  ])("%s means %s", (text, type) => expect(parsePayloadType(text)).toEqual({ ok: true, value: type }));

  test("an unknown one is refused with the list", () => {
    expect(parsePayloadType("folder")).toMatchObject({ ok: false, problems: [{ column: "type" }] });
  });

  test.each(["a.zip", "a.tar", "a.tar.gz", "a.TGZ", "a.bz2", "a.bz"])("%s is a container", (name) => {
    expect(detectPayloadType(name, "")).toBe("container");
  });

  test("manifests are known by their profile, everything else is a file", () => {
    const head = (kind: keyof typeof MANIFEST_KINDS) =>
      `\uFEFF#%checkm_0.7\r\n#%profile | ${MANIFEST_KINDS[kind].profile}\r\n`;
    expect(detectPayloadType("x.checkm", head("batch-manifest"))).toBe("batch-manifest");
    expect(detectPayloadType("x.txt", head("object-manifest"))).toBe("object-manifest");
    expect(detectPayloadType("x.checkm", head("storage-manifest"))).toBe("file");
    expect(detectPayloadType("x.checkm", "#%profile | http://example.org/none\n")).toBe("file");
    expect(detectPayloadType("x.jpg", "\uFFFD\uFFFD JFIF")).toBe("file");
  });

  test("a batch is told from a single object", () => {
    expect([isBatchType("batch-manifest"), isBatchType("object-manifest")]).toEqual([true, false]);
    expect([manifestKindOf("file"), manifestKindOf("object-manifest")]).toEqual([undefined, "object-manifest"]);
  });
});
