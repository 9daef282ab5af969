import type { RedirectRule } from "../redirects/rule.ts";

/** A rule for everybody at every name, unless told otherwise. */
export function ruleOf(from: string, to: string, more: Partial<RedirectRule> = {}): RedirectRule {
  return { domain: null, from, to, type: "permanent", country: null, city: null, ...more };
}
