/** An overlay as `kubectl apply -k` would send it. */
import { spawnSync } from "node:child_process";
import { parseAllDocuments } from "yaml";
import { type KubernetesObject, parseObject } from "./object.ts";

export interface Kustomize {
  readonly command: string;
  readonly args: readonly string[];
}

const KNOWN: readonly (Kustomize & { readonly asked: readonly string[] })[] = [
  { command: "kubectl", args: ["kustomize"], asked: ["version", "--client"] },
  { command: "kustomize", args: ["build"], asked: ["version"] },
];

export function findKustomize(): Kustomize | { readonly skip: string } {
  const found = KNOWN.find(({ command, asked }) => spawnSync(command, asked).status === 0);
  return found ?? { skip: "the manifests are not rendered: neither kubectl nor kustomize is installed" };
}

export function render({ command, args }: Kustomize, folder: string): readonly KubernetesObject[] {
  const { status, stdout, stderr } = spawnSync(command, [...args, folder], { encoding: "utf8" });
  if (status !== 0) throw new Error(`${folder} cannot be rendered: ${stderr}`);
  return parseAllDocuments(stdout).map((document) => parseObject(document.toJS()));
}
