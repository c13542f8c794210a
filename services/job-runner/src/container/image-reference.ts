/**
 * Names of images, read as Docker reads them, and the list of those that jobs may use. Two texts can name the same image
 * (`tool`, `docker.io/library/tool:latest`), and texts that look alike can name others (`team/tool`, `team/tool-evil`), so
 * parsed names are compared, never texts.
 */

export interface ImageReference {
  /** `docker.io` when the text has none. */
  readonly registry: string;
  /** Lower-case names with `/` between them. */
  readonly repository: string;
  readonly tag: string | null;
  /** `sha256:` and 64 hexadecimal digits. */
  readonly digest: string | null;
}

/** One entry of CONTAINER_IMAGES. */
export interface AllowedImage extends ImageReference {
  /** All repositories below the one that is named (below the registry, if none is). */
  readonly below: boolean;
}

const DOCKER_HUB = "docker.io";
const NAME_CHARACTERS = 255;
const HOST = /^[A-Za-z0-9](?:[A-Za-z0-9.-]*[A-Za-z0-9])?(?::[0-9]{1,5})?$/;
const TAG = /^[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}$/;
const DIGEST = /^sha256:[0-9a-f]{64}$/;
const COMPONENT_CHARACTERS = /^[a-z0-9._-]+$/;
/** What stands between the letters and digits of a component: one dot, one or two underscores, any number of dashes. */
const SEPARATORS = /[._-]+/g;
const SEPARATOR = /^(?:\.|__?|-+)$/;
/** Docker takes these for the id of an image. */
const IMAGE_ID = /^(?:sha256:)?[0-9a-f]{64}$/;

/** Null: no reference, or one to an image's id, which says nothing about where it is from. */
export function parseReference(text: string): ImageReference | null {
  if (IMAGE_ID.test(text)) return null;
  const [named = "", digest = null, ...more] = text.split("@");
  if (more.length > 0 || (digest !== null && !DIGEST.test(digest))) return null;
  // A colon before the last slash belongs to the port of a registry.
  const colon = named.indexOf(":", named.lastIndexOf("/") + 1);
  const tag = colon === -1 ? null : named.slice(colon + 1);
  if (tag !== null && !TAG.test(tag)) return null;
  const place = placeOf(colon === -1 ? named : named.slice(0, colon));
  return place === null ? null : { ...place, tag, digest };
}

type Place = Pick<ImageReference, "registry" | "repository">;

function placeOf(name: string): Place | null {
  if (name.length > NAME_CHARACTERS) return null;
  const { registry, rest } = splitRegistry(name.split("/"));
  const components = registry === DOCKER_HUB && rest.length === 1 ? ["library", ...rest] : rest;
  if (!HOST.test(registry) || components.length === 0 || !components.every(isComponent)) return null;
  return { registry, repository: components.join("/") };
}

/** The first name is a registry when it looks like a host; otherwise the registry is Docker's. */
function splitRegistry(names: readonly string[]): { readonly registry: string; readonly rest: readonly string[] } {
  const [first = "", ...rest] = names;
  const isHost = rest.length > 0 && (/[.:A-Z]/.test(first) || first === "localhost");
  if (!isHost) return { registry: DOCKER_HUB, rest: names };
  return { registry: first === "index.docker.io" ? DOCKER_HUB : first.toLowerCase(), rest };
}

function isComponent(name: string): boolean {
  if (!COMPONENT_CHARACTERS.test(name) || !/^[a-z0-9]/.test(name) || !/[a-z0-9]$/.test(name)) return false;
  return (name.match(SEPARATORS) ?? []).every((separator) => SEPARATOR.test(separator));
}

/**
 * `registry.example/tool`: every tag and digest of it. `…/tool:1.2`: this tag alone. `…/tool:1.2@sha256:…`: this digest alone, and jobs
 * that say `…/tool:1.2` get it. `registry.example/team/*`: every image below. Null: not understood.
 */
export function parseAllowed(text: string): AllowedImage | null {
  if (!text.endsWith("/*")) {
    const one = parseReference(text);
    return one === null ? null : { ...one, below: false };
  }
  const { registry, rest } = splitRegistry([...text.slice(0, -2).split("/"), ""]);
  const names = rest.slice(0, -1);
  if (!HOST.test(registry) || !names.every(isComponent)) return null;
  return { registry, repository: names.join("/"), tag: null, digest: null, below: true };
}

/** What the engine is asked for when a job names this image: whole, and by its digest where one is known. Null: not allowed. */
export function allowedImage(image: string, allowed: readonly AllowedImage[]): string | null {
  const asked = parseReference(image);
  if (asked === null) return null;
  const entry = allowed.find((each) => covers(each, asked));
  return entry === undefined ? null : nameOf(asked, asked.digest ?? entry.digest);
}

function covers(entry: AllowedImage, asked: ImageReference): boolean {
  if (entry.registry !== asked.registry) return false;
  if (entry.below) return entry.repository === "" || asked.repository.startsWith(`${entry.repository}/`);
  if (entry.repository !== asked.repository) return false;
  if (entry.digest !== null) {
    const sameTag = (asked.tag ?? "latest") === (entry.tag ?? "latest");
    return asked.digest === null ? sameTag : asked.digest === entry.digest && (asked.tag === null || sameTag);
  }
  // Docker looks at the digest alone when there is one: beside an allowed tag it may be that of any other.
  return entry.tag === null || (asked.digest === null && (asked.tag ?? "latest") === entry.tag);
}

function nameOf({ registry, repository, tag }: ImageReference, digest: string | null): string {
  const place = `${registry}/${repository}`;
  return digest === null ? `${place}:${tag ?? "latest"}` : `${place}@${digest}`;
}
