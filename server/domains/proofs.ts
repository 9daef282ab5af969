/** Decides what of a new domain is served without a proof of ownership. */

interface NameFacts {
  readonly hasOtherCompanies: boolean;
  readonly isShared: boolean;
  readonly ownHold: "name" | "wildcard" | null;
  readonly isBelowOwnProven: boolean;
  readonly isBelowOwnDomain: boolean;
}

interface Wanted {
  readonly isWildcard: boolean;
  /** Whether the name already leads to this installation, or may do so because DNS does not answer. */
  readonly leadsHere: boolean;
}

/**
 * Returns what must be proven before it is served; null for nothing.
 *
 * Visitors of a name that already leads here would get the site of any company that adds it, and so would visitors of
 * names below a wildcard that lead here. Names that have nothing to do with other companies, and lead elsewhere, can only
 * be pointed here by their owner.
 */
export function proofNeededFor(facts: NameFacts, { isWildcard, leadsHere }: Wanted): "subdomains" | "all" | null {
  if (facts.isBelowOwnProven || facts.isBelowOwnDomain) return null;
  const subdomains = facts.hasOtherCompanies && isWildcard && facts.ownHold !== "wildcard" ? "subdomains" : null;
  if (facts.ownHold !== null) return subdomains;
  if (facts.isShared) return "all";
  return facts.hasOtherCompanies && leadsHere ? "all" : subdomains;
}
