/** Writes the SBOM of an application folder to stdout: runs in the build stage, over exactly what the image gets. */
import { parseArgs } from "node:util";
import { bomOf } from "./bom.ts";
import { npmPackagesIn, readManifest } from "./npm-packages.ts";
import { osPackagesIn } from "./os-packages.ts";

const { values } = parseArgs({
  options: {
    name: { type: "string", default: "" },
    version: { type: "string", default: "" },
    app: { type: "string", default: "." },
    /** Empty: the base image is somebody else's, and has an SBOM of its own. */
    "os-packages": { type: "string", default: "" },
  },
});
const os = values["os-packages"] === "" ? [] : await osPackagesIn(values["os-packages"]);
const npm = [await readManifest(values.app), ...(await npmPackagesIn(values.app))];
process.stdout.write(
  bomOf({ name: values.name, version: values.version, nodeVersion: process.versions.node, npm, os }),
);
