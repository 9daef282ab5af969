/** What a key may pass on: a key never makes one that can do more than itself. */
import { NotAllowed } from "../failures.ts";

const isSite = (scope: string) => scope.startsWith("site:");
const isVerb = (scope: string) => !isSite(scope) && scope !== "non-live";

/**
 * The scopes of a new key that were asked for (null = none in particular), as far as `own` (null = unlimited)
 * reaches. A kind of scope that was not asked for is taken over from the calling key. Throws `NotAllowed`
 * where more is asked for.
 */
export function grantedScopes(own: readonly string[] | null, wanted: readonly string[] | null): string[] | null {
  const asked = [...new Set((wanted ?? []).map((scope) => scope.toLowerCase()))];
  if (own === null) return asked.length > 0 ? asked : null;
  const granted = [...narrowed(own, asked, isVerb), ...narrowed(own, asked, isSite)];
  if (own.includes("non-live") || asked.includes("non-live")) granted.push("non-live");
  return granted;
}

function narrowed(own: readonly string[], asked: readonly string[], isKind: (scope: string) => boolean): string[] {
  const mine = own.filter(isKind);
  const theirs = asked.filter(isKind);
  if (mine.length === 0) return theirs;
  if (theirs.length === 0) return mine;
  const beyond = theirs.find((scope) => !mine.includes(scope));
  if (beyond) throw new NotAllowed(beyond);
  return theirs;
}
