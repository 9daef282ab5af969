/**
 * Which company's records are served at which names of a zone that several companies have domains in: each company's below its
 * own domains, where the longest name wins. What is not proven never counts against what is.
 */
import { namesAbove } from "./names.ts";

export interface ZoneDomain {
  readonly name: string;
  readonly companyId: string;
  /** Whether its company has proven that it owns the name. */
  readonly isProven: boolean;
  /** Whether it is not served, because its company must prove that first. */
  readonly isUnproven: boolean;
}

interface RecordPlace {
  readonly name: string;
  readonly type: string;
}

interface ZoneNames {
  /** Whether any records of the zone are served. */
  readonly isServed: boolean;
  /** Whether the company's records of this name and type are served. */
  serves(companyId: string, place: RecordPlace): boolean;
}

/** `domains` are all domains in the zone. */
export function zoneNamesOf(domains: readonly ZoneDomain[]): ZoneNames {
  const byName = new Map(domains.map((domain) => [domain.name, domain]));
  const counted = new Map(domains.filter((domain) => counts(domain, byName)).map((domain) => [domain.name, domain]));
  const companies = new Set([...counted.values()].map(({ companyId }) => companyId));
  const companiesBelow = collectCompaniesBelow([...counted.values()]);

  /** Records that are left of a removed domain are served as before, if no other company can have an interest in the name. */
  function isLeftOver(companyId: string, name: string): boolean {
    return companies.size === 1 && companies.has(companyId) && nearest(name, byName) === undefined;
  }

  return {
    isServed: counted.size > 0,
    serves: (companyId, { name, type }) => {
      const below = companiesBelow.get(name);
      // A delegation would hide all names below it.
      if (type === "NS" && below !== undefined && (below.size > 1 || !below.has(companyId))) return false;
      const owner = nearest(name, counted);
      return owner === undefined ? isLeftOver(companyId, name) : owner.companyId === companyId;
    },
  };
}

function nearest(name: string, domains: ReadonlyMap<string, ZoneDomain>): ZoneDomain | undefined {
  const found = [name, ...namesAbove(name)].find((each) => domains.has(each));
  return found === undefined ? undefined : domains.get(found);
}

/** Whether the domain's records are served: not if only another company has proven that it owns a name above. */
function counts(
  { name, companyId, isProven, isUnproven }: ZoneDomain,
  domains: ReadonlyMap<string, ZoneDomain>,
): boolean {
  if (isUnproven) return false;
  if (isProven) return true;
  return !namesAbove(name).some((above) => {
    const domain = domains.get(above);
    return domain?.isProven === true && domain.companyId !== companyId;
  });
}

/** For each name above a domain, the companies of the domains below it. */
function collectCompaniesBelow(domains: readonly ZoneDomain[]): ReadonlyMap<string, ReadonlySet<string>> {
  const companies = new Map<string, Set<string>>();
  for (const { name, companyId } of domains) {
    for (const above of namesAbove(name)) {
      const below = companies.get(above) ?? new Set();
      companies.set(above, below.add(companyId));
    }
  }
  return companies;
}
