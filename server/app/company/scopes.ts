/** Scopes of new keys: a key can't create one with more permissions than its own. */
import { NotAllowed } from "../failures.ts";

/** Labels stand for the sites that have them at the time, so that a key limited to a label can pass on only that label. */
const isSite = (scope: string) => scope.startsWith("site:") || scope.startsWith("label:");
const isVerb = (scope: string) => !isSite(scope) && scope !== "non-live";

/**
 * Returns the scopes of a new key. `own` are the scopes of the calling key (null: unrestricted), `wanted` the requested ones
 * (null: none in particular). A kind of scope that is not requested is inherited from the calling key. Throws `NotAllowed` if
 * a requested scope exceeds the calling key's.
 */
export function grantedScopes(own: readonly string[] | null, wanted: readonly string[] | null): string[] | null {
  const requested = [...new Set((wanted ?? []).map((scope) => scope.toLowerCase()))];
  if (own === null) return requested.length > 0 ? requested : null;
  const granted = [...grantKind(own, requested, isVerb), ...grantKind(own, requested, isSite)];
  if (own.includes("non-live") || requested.includes("non-live")) granted.push("non-live");
  return granted;
}

function grantKind(own: readonly string[], requested: readonly string[], isKind: (scope: string) => boolean): string[] {
  const available = own.filter(isKind);
  const wanted = requested.filter(isKind);
  if (available.length === 0) return wanted;
  if (wanted.length === 0) return available;
  const missing = wanted.find((scope) => !available.includes(scope));
  if (missing) throw new NotAllowed(missing);
  return wanted;
}
