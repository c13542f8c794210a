/** What an image consists of, as a CycloneDX document. Pure: the same content makes the same bytes. */
import * as CDX from "@cyclonedx/cyclonedx-library";
import { PackageURL } from "packageurl-js";
import parseExpression from "spdx-expression-parse";
import type { NpmPackage } from "./npm-packages.ts";
import type { OsPackage } from "./os-packages.ts";

export interface Content {
  readonly name: string;
  readonly version: string;
  readonly nodeVersion: string;
  readonly npm: readonly NpmPackage[];
  readonly os: readonly OsPackage[];
}

const { Application, Container, Library, Platform } = CDX.Enums.ComponentType;
const licenses = new CDX.Contrib.License.Factories.LicenseFactory(parseExpression);

export function bomOf(content: Content): string {
  const image = component(Container, content.name, content.version, null);
  const bom = new CDX.Models.Bom();
  bom.metadata.component = image;
  const parts = [
    component(Platform, "node", content.nodeVersion, new PackageURL("generic", null, "node", content.nodeVersion)),
    ...content.npm.map(fromNpm),
    ...content.os.map(fromDebian),
  ];
  for (const part of parts) {
    bom.components.add(part);
    image.dependencies.add(part.bomRef);
  }
  const serializer = new CDX.Serialize.JsonSerializer(new CDX.Serialize.JSON.Normalize.Factory(CDX.Spec.Spec1dot6));
  return serializer.serialize(bom, { sortLists: true, space: 2 });
}

function component(type: CDX.Enums.ComponentType, name: string, version: string, purl: PackageURL | null) {
  const text = purl?.toString();
  return new CDX.Models.Component(type, name, {
    version,
    bomRef: text ?? `${name}@${version}`,
    ...(text === undefined ? {} : { purl: text }),
  });
}

function fromNpm({ name, version, description, license }: NpmPackage): CDX.Models.Component {
  const [last = name, scope = null] = name.split("/").reverse();
  const type = scope === "@sluice" ? Application : Library;
  const made = component(type, last, version, new PackageURL("npm", scope, last, version));
  if (scope !== null) made.group = scope;
  if (description !== undefined) made.description = description;
  if (license !== undefined) made.licenses.add(licenses.makeFromString(license));
  return made;
}

const fromDebian = ({ name, version, architecture }: OsPackage): CDX.Models.Component =>
  component(Library, name, version, new PackageURL("deb", "debian", name, version, { arch: architecture }));
