import { fileURLToPath } from "node:url";
import type { KubernetesObject } from "../src/object.ts";
import { findKustomize, render } from "../src/render.ts";

export const kustomize = findKustomize();

const OVERLAYS = fileURLToPath(new URL("../../../k8s/overlays/", import.meta.url));

/** Empty where it cannot be rendered: whoever uses it is skipped there. */
export const rendered = (overlay: string): readonly KubernetesObject[] =>
  "skip" in kustomize ? [] : render(kustomize, `${OVERLAYS}${overlay}`);
