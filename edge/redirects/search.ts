/** Finds rules for people: by a part of them, or by an expression. */
import { RE2JS } from "re2js";

const longestQuery = 1_000;

/** Null if the expression is none. Capitals make no difference. */
export function createSearch(query: string, isExpression: boolean): ((text: string) => boolean) | null {
  if (!isExpression) {
    const wanted = query.toLowerCase();
    return (text) => text.toLowerCase().includes(wanted);
  }
  if (query.length > longestQuery) return null;
  try {
    const compiled = RE2JS.compile(query, RE2JS.CASE_INSENSITIVE);
    return (text) => compiled.matcher(text).find();
  } catch {
    return null;
  }
}
