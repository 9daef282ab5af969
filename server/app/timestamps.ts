/** Timestamps of requests. */

/**
 * A date and time that the contract lets through. RFC 3339 knows things that `Date` doesn't: a leap second, which is read as
 * the last moment before it, an offset of hours only, and small letters.
 */
export function readTimestamp(text: string): Date {
  return new Date(
    text
      .toUpperCase()
      .replace(/:60(\.\d+)?(?=[z+-])/i, ":59.999")
      .replace(/[+-]\d\d$/, "$&:00"),
  );
}
