/** Everything that an app does with a request, in order: its endpoints, and what stands before, between and behind them. */
import type { Api } from "./apis.ts";

interface LayerLike {
  readonly name: string;
  readonly handle: unknown;
  readonly route?: { readonly path: unknown; readonly stack: readonly { readonly method?: string }[] } | undefined;
}

export interface Layers {
  /** As they were registered: what a document of the API leaves out is here too. */
  readonly routes: readonly string[];
  /** Names of middleware in order, and `routes` where some endpoints stand; several of the same name in a row are one. */
  readonly order: readonly string[];
}

export function layersOf(app: Api["app"]): Layers {
  const all = listed(app.router.stack);
  const names = all.map((each) => ("route" in each ? "routes" : each.middleware));
  return {
    routes: [...new Set(all.flatMap((each) => ("route" in each ? [each.route] : [])))].sort(),
    order: names.filter((name, i) => name !== names[i - 1]),
  };
}

type Listed = { readonly route: string } | { readonly middleware: string };

/** What is mounted is named before what it holds: no app of ours mounts anything, so its name is in no list. */
function listed(layers: readonly LayerLike[]): readonly Listed[] {
  return layers.flatMap(({ name, handle, route }): readonly Listed[] => {
    if (route !== undefined)
      return route.stack.map(({ method }) => ({ route: `${method?.toUpperCase() ?? "ALL"} ${String(route.path)}` }));
    return [{ middleware: name }, ...listed(stackOf(handle))];
  });
}

function stackOf(handle: unknown): readonly LayerLike[] {
  if ((typeof handle !== "function" && typeof handle !== "object") || handle === null) return [];
  return "stack" in handle && Array.isArray(handle.stack) ? (handle.stack as LayerLike[]) : [];
}
