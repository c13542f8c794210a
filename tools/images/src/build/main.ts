/** `npm run images`: every image with its SBOM, and how large each became. */
import { parseArgs } from "node:util";
import { withEngine } from "../engine.ts";
import { ROOT } from "../root.ts";
import { buildAll } from "./build-all.ts";

const USAGE = `npm run images -- [options]
  --only a,b      these alone
  --local-bases   on stand-ins made from Debian's packages, where no registry of images can be reached (root)
  --own-engine    on a Docker engine of its own, which is gone afterwards with its images (root)
SLUICE_IMAGES (sluice), SLUICE_TAG (the version), BUILD_BASE and RUNTIME_BASE name others.`;

const { values } = parseArgs({
  options: {
    only: { type: "string", default: "" },
    "local-bases": { type: "boolean", default: false },
    "own-engine": { type: "boolean", default: false },
    help: { type: "boolean", default: false },
  },
});
const say = (line: string): void => console.log(line);

if (values.help) say(USAGE);
else {
  await withEngine(values["own-engine"], say, async (docker) => {
    const only = values.only.split(",").filter((name) => name !== "");
    await buildAll(docker, { root: ROOT, bases: values["local-bases"] ? "local" : "public", only, say });
    say("SBOMs are in data/sbom");
  }).catch((error: unknown) => {
    console.error(error instanceof Error ? error.message : error);
    process.exitCode = 1;
  });
}
