/** Whose an object is, and which profile may change it. Pure: every place that writes to objects asks here. */
import type { Profile } from "./profile.ts";

/** An object's owner and its collections, by their ARKs. */
export interface Belonging {
  readonly owner: string;
  readonly collections: readonly string[];
}

/** A profile, as far as it decides which objects its deposits may change. */
export type Writer = Pick<Profile, "owner" | "collections" | "updatesCollections">;

/**
 * The owner must be the same, and the object must be in the profile's own collection, the first one, or in one that the profile
 * names for updates. Its other collections do not count: a profile that adds its objects to a collection as well must not
 * thereby be able to replace all objects of that collection.
 */
export function mayChange({ owner, collections, updatesCollections }: Writer, object: Belonging): boolean {
  if (object.owner !== owner) return false;
  return [...collections.slice(0, 1), ...updatesCollections].some((ark) => object.collections.includes(ark));
}

/**
 * The collections of an object's next version; `object` is null for the first one. An object keeps the collections that it has,
 * and gets further ones from profiles of its own collections only.
 */
export function collectionsOfNext({ collections }: Writer, object: Belonging | null): readonly string[] {
  if (object === null) return collections;
  const isOwn = collections.slice(0, 1).some((ark) => object.collections.includes(ark));
  return [...new Set([...object.collections, ...(isOwn ? collections : [])])];
}
