import { describe, expect, test } from "@jest/globals";
import { type ObjectInfoFile, parseObjectInfo } from "../src/index.ts";

const document = (inner: string): string =>
  `<?xml version="1.1"?><objectInfo xmlns="http://uc3.cdlib.org/ontology/mrt/manifest">${inner}</objectInfo>`;

const file = (path: string, key: string): string => `
  <file id="${path}">
    <digestType>SHA-256</digestType><digest>ABCDEF</digest><size>5</size>
    <creationDate>2017-10-03T22:29:19+00:00</creationDate><mimeType>text/plain</mimeType><key>${key}</key>
  </file>`;

describe("what Merritt's storage service tells of an object", () => {
  test("is its versions, their files, and which version brought each content", () => {
    const text = document(`
      <object id="ark:/99999/fk4a"><current>2</current><fileCount>3</fileCount></object>
      <versions>
        <version id="1"><manifest count="1" created="2022-07-21T23:20:20+00:00">
          ${file("producer/a &amp; b.txt", "ark:/99999/fk4a|1|producer/a &amp; b.txt")}
        </manifest></version>
        <version id="2"><manifest count="2" created="2022-07-22T23:20:20+00:00">
          ${file("producer/a &amp; b.txt", "ark:/99999/fk4a|1|producer/a &amp; b.txt")}${file("producer/c.txt", "")}
        </manifest></version>
      </versions>`);
    const common = { digestType: "SHA-256", digest: "abcdef", size: 5, mimeType: "text/plain" };
    const old: [string, ObjectInfoFile] = ["producer/a & b.txt", { ...common, contentOf: 1 }];
    expect(parseObjectInfo(text)).toEqual({
      ok: true,
      value: {
        ark: "ark:/99999/fk4a",
        versions: new Map([
          [1, { created: "2022-07-21T23:20:20+00:00", files: new Map([old]) }],
          [
            2,
            {
              created: "2022-07-22T23:20:20+00:00",
              files: new Map([old, ["producer/c.txt", { ...common, contentOf: undefined }]]),
            },
          ],
        ]),
      },
    });
  });

  test.each(["", "<objectInfo>", "<other/>", "not found"])("is not %j", (text) => {
    expect(parseObjectInfo(text)).toMatchObject({ ok: false, problems: [{ code: "XML_MALFORMED" }] });
  });
});
