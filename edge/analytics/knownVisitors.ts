/**
 * Visitors that have been seen, up to a maximum number.
 *
 * Anyone may use places that no one else needs. When there is none left, the company with the most visitors loses one to a company with
 * fewer, from its environment with the most. A company or environment that has lost some gets no more, so that a visitor who is
 * forgotten is not counted again.
 */

/** All three are salted hashes. */
export interface Visitor {
  readonly company: number;
  readonly environment: number;
  readonly visitor: number;
}

export interface KnownVisitors {
  /** Returns whether it was added: not if it is known, or there is no place for it. */
  add(visitor: Visitor): boolean;
}

interface Sized {
  size: number;
}

interface Environment extends Sized {
  readonly visitors: Set<number>;
  /** Those that are left, in the order in which they came. A new iterator would step over all that were removed before. */
  readonly oldest: Iterator<number, undefined>;
}

interface Company extends Sized {
  readonly environments: Map<number, Environment>;
  readonly ranking: Ranking<Environment>;
}

export function createKnownVisitors(maxVisitors: number): KnownVisitors {
  const companies = new Map<number, Company>();
  const ranking = createRanking<Company>();
  let total = 0;

  function change(company: Company, environment: Environment, by: 1 | -1): void {
    company.ranking.change(environment, by);
    ranking.change(company, by);
    total += by;
  }

  /** Forgets a visitor of the largest, if it has more than the one that needs a place would have. */
  function makePlace(company: Company, environment: Environment): boolean {
    const largest = ranking.largest();
    const loser = largest === undefined || largest.size - 1 <= company.size ? company : largest;
    const loserEnvironment = loser.ranking.largest();
    if (loserEnvironment === undefined) return false;
    if (loser === company && loserEnvironment.size - 1 <= environment.size) return false;
    const forgotten = loserEnvironment.oldest.next().value;
    if (forgotten === undefined) return false;
    loserEnvironment.visitors.delete(forgotten);
    change(loser, loserEnvironment, -1);
    return true;
  }

  return {
    add({ company: companyId, environment: environmentId, visitor }) {
      const company = companies.get(companyId) ?? { size: 0, environments: new Map(), ranking: createRanking() };
      const environment = company.environments.get(environmentId) ?? beginEnvironment();
      if (environment.visitors.has(visitor)) return false;
      if (total >= maxVisitors && !makePlace(company, environment)) return false;
      companies.set(companyId, company);
      company.environments.set(environmentId, environment);
      environment.visitors.add(visitor);
      change(company, environment, 1);
      return true;
    },
  };
}

function beginEnvironment(): Environment {
  const visitors = new Set<number>();
  return { size: 0, visitors, oldest: visitors.values() };
}

/** Finds the largest at once, however many there are, because sizes change by one. */
interface Ranking<T extends Sized> {
  change(item: T, by: 1 | -1): void;
  largest(): T | undefined;
}

function createRanking<T extends Sized>(): Ranking<T> {
  const bySize = new Map<number, Set<T>>();
  let most = 0;
  function leave(item: T): void {
    const equals = bySize.get(item.size);
    equals?.delete(item);
    if (equals?.size === 0) bySize.delete(item.size);
  }
  function enter(item: T): void {
    const equals = bySize.get(item.size) ?? new Set();
    bySize.set(item.size, equals.add(item));
  }
  return {
    change(item, by) {
      leave(item);
      item.size += by;
      enter(item);
      most = Math.max(most, item.size);
      while (most > 0 && !bySize.has(most)) most -= 1;
    },
    largest() {
      const [first] = bySize.get(most) ?? [];
      return first;
    },
  };
}
