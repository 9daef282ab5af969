/** Filters and sorts the overviews of sites. */
import type { Calls } from "@sitewright/contract/endpoints.ts";
import type { ResultOf, World } from "../world/world.ts";

type Overview = ResultOf<"listSiteOverviews">["items"][number];
type Query = Parameters<Calls<World>["listSiteOverviews"]>[1]["query"];
type Order = NonNullable<Query["order"]>;

const month = 30 * 86_400_000;

const isProven = ({ live }: Overview, now: number): boolean =>
  live?.proven_restore_at != null && now - Date.parse(live.proven_restore_at) < month;

function matches(overview: Overview, query: Query, now: number): boolean {
  const { name, display_name, siteLabels, live } = overview;
  const has = <Value>(wanted: Value | undefined, value: Value) => wanted === undefined || wanted === value;
  return (
    `${name}\n${display_name}`.toLowerCase().includes((query.search ?? "").toLowerCase()) &&
    (query.label === undefined || siteLabels.some(({ id }) => id === query.label)) &&
    has(query.state, live?.state) &&
    has(query.wordpress_version, live?.wordpress_version ?? undefined) &&
    has(query.php_version, live?.php_version) &&
    has(query.has_updates, (live?.updates ?? 0) > 0) &&
    has(query.is_vulnerable, (live?.vulnerabilities ?? 0) > 0) &&
    has(query.is_proven, isProven(overview, now))
  );
}

const keys = {
  name: () => "",
  created: ({ created_at }) => created_at,
  wordpress: ({ live }) => live?.wordpress_version ?? "",
  php: ({ live }) => live?.php_version ?? "",
  updates: ({ live }) => live?.updates ?? 0,
  vulnerabilities: ({ live }) => live?.vulnerabilities ?? 0,
  proven: ({ live }) => live?.proven_restore_at ?? "",
} satisfies Record<Order, (overview: Overview) => string | number>;

/** The matches, sorted as the query asks. */
export function orderedOverviews(all: readonly Overview[], query: Query, now: number): Overview[] {
  const key = keys[query.order ?? "name"];
  const byName = (one: Overview, other: Overview) => one.display_name.localeCompare(other.display_name);
  const sorted = all
    .filter((overview) => matches(overview, query, now))
    .toSorted((one, other) => {
      const [left, right] = [key(one), key(other)];
      return left === right ? byName(one, other) : left < right ? -1 : 1;
    });
  return query.descending === true ? sorted.toReversed() : sorted;
}
