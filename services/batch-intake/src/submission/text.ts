/** Anything that would end a header, a mail's line or a znode path early, or hide text from who reads it. */
const CONTROL = /[\u0000-\u001f\u007f-\u009f\u2028\u2029]/;

/** Half of a surrogate pair cannot be written as UTF-8. */
const HALF_PAIR = /\p{Surrogate}/u;

export const isPlainText = (text: string): boolean => !CONTROL.test(text) && !HALF_PAIR.test(text);

/** Longer than any title met in practice; the sum of all fields stays far below a znode's bound. */
export const TEXT_MAX = 3_500;

/** Merritt's own limit is the form's; several addresses are separated by commas or semicolons. */
const MAIL = /^[^\s@<>,;:"()[\]\\]{1,64}@[A-Za-z0-9.-]{1,255}$/;

export function parseMailAddresses(text: string): readonly string[] | null {
  const addresses = text
    .split(/[,;]/)
    .map((part) => part.trim())
    .filter((part) => part !== "");
  return addresses.length > 0 && addresses.length <= 20 && addresses.every((address) => MAIL.test(address))
    ? addresses
    : null;
}
