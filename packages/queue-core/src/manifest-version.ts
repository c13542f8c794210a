/** The stored version, where the URL of its manifest tells it (…/v3/inventory.json); null where it does not. */
export function versionOfManifest(manifestUrl: string): number | null {
  const digits = /\/v0*(\d{1,9})\/[^/]*$/.exec(manifestUrl)?.[1];
  return digits === undefined ? null : Number(digits);
}
