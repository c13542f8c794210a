/** Where a callback goes, and what it shows at the door. */
export interface CallbackAddress {
  /** Without name and password: it may stand in messages and logs. */
  readonly url: string;
  /** From the profile's URL; goes into the request's header and nowhere else. */
  readonly basicAuth: { readonly user: string; readonly password: string } | null;
}

/** Merritt's receivers listen at <CallbackURL>/mc/<job>. */
export function callbackAddress(callbackUrl: string, jobName: string): CallbackAddress {
  const url = new URL(callbackUrl);
  const hasAuth = url.username !== "" || url.password !== "";
  const basicAuth = hasAuth ? { user: decoded(url.username), password: decoded(url.password) } : null;
  url.username = "";
  url.password = "";
  url.hash = "";
  url.pathname = `${url.pathname.replace(/(?<!\/)\/+$/, "")}/mc/${encodeURIComponent(jobName)}`;
  return { url: url.href, basicAuth };
}

/** A stray % in a password is a %: the receiver says so if that was wrong. */
function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
