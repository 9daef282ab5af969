/**
 * Parses an RFC 3339 timestamp that the contract has validated. Covers the cases that `Date` rejects: a leap second (read
 * as the last millisecond before it), an offset of hours only, and lower-case letters.
 */
export function readTimestamp(text: string): Date {
  return new Date(
    text
      .toUpperCase()
      .replace(/:60(\.\d+)?(?=[z+-])/i, ":59.999")
      .replace(/[+-]\d\d$/, "$&:00"),
  );
}
