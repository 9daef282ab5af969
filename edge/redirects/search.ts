/** Searches rules by text or by regular expression. */
import { RE2JS } from "re2js";

const maxQueryLength = 1_000;

/** Returns a function that tells whether a text matches, ignoring case. Null if the expression is invalid. */
export function createSearch(query: string, isExpression: boolean): ((text: string) => boolean) | null {
  if (!isExpression) {
    const wanted = query.toLowerCase();
    return (text) => text.toLowerCase().includes(wanted);
  }
  if (query.length > maxQueryLength) return null;
  try {
    const compiled = RE2JS.compile(query, RE2JS.CASE_INSENSITIVE);
    return (text) => compiled.matcher(text).find();
  } catch {
    return null;
  }
}
