import type { RedirectRule } from "../redirects/rule.ts";

/** A permanent redirect rule for all visitors and domains, with changes. */
export function ruleOf(from: string, to: string, more: Partial<RedirectRule> = {}): RedirectRule {
  return { domain: null, from, to, type: "permanent", country: null, city: null, ...more };
}
