/** Sites with their versions, updates, risk and backups, filtered and sorted by the API. */
import { queryOptions } from "@tanstack/react-query";
import { answerOf, api, type Schemas } from "./client.ts";

export type SiteOverview = Schemas["SiteOverview"];
export type LiveOverview = Schemas["LiveOverview"];
export type YesOrNo = "yes" | "no";

const orders = ["name", "created", "wordpress", "php", "updates", "vulnerabilities", "proven"] as const;
export type Order = (typeof orders)[number];
const states = ["ready", "busy", "awaits_rebuild"] as const;
export type LiveState = (typeof states)[number];

/** What the list shows, as the address has it. */
export interface SiteFilter {
  readonly search?: string;
  readonly label?: string;
  readonly state?: LiveState;
  readonly wordpress?: string;
  readonly php?: string;
  readonly updates?: YesOrNo;
  readonly risk?: YesOrNo;
  readonly proven?: YesOrNo;
  readonly order?: Order;
  readonly descending?: true;
}

/** The router reads `8.3` in an address as a number. */
const textOf = (value: unknown): string | undefined =>
  typeof value === "string" || typeof value === "number" ? String(value) : undefined;

/** Leaves out what is unknown or the default. */
export function filterFrom(given: Record<string, unknown>): SiteFilter {
  const one = <Value extends string>(name: string, values: readonly Value[]) =>
    values.find((value) => value === given[name]);
  const choice = (name: string) => one(name, ["yes", "no"] as const);
  return definedOnly({
    search: textOf(given.search),
    label: textOf(given.label),
    state: one("state", states),
    wordpress: textOf(given.wordpress),
    php: textOf(given.php),
    updates: choice("updates"),
    risk: choice("risk"),
    proven: choice("proven"),
    order: one("order", orders),
    descending: given.descending === true ? true : undefined,
  });
}

type Definable = { readonly [Name in keyof SiteFilter]: SiteFilter[Name] | undefined };

function definedOnly({ search, label, state, wordpress, php, updates, risk, proven, order, descending }: Definable) {
  return {
    ...(search && { search }),
    ...(label && { label }),
    ...(state && { state }),
    ...(wordpress && { wordpress }),
    ...(php && { php }),
    ...(updates && { updates }),
    ...(risk && { risk }),
    ...(proven && { proven }),
    ...(order && order !== "name" && { order }),
    ...(descending && { descending }),
  };
}

/** The filter with changes; undefined removes a value. */
export const changedFilter = (filter: SiteFilter, change: Definable): SiteFilter =>
  definedOnly({ ...filter, ...change } satisfies Definable);

/** As the API has it. */
function queryOf({ search, label, state, wordpress, php, updates, risk, proven, order, descending }: SiteFilter) {
  return {
    ...(search && { search }),
    ...(label && { label }),
    ...(state && { state }),
    ...(wordpress && { wordpress_version: wordpress }),
    ...(php && { php_version: php }),
    ...(updates && { has_updates: updates === "yes" }),
    ...(risk && { is_vulnerable: risk === "yes" }),
    ...(proven && { is_proven: proven === "yes" }),
    ...(order && { order }),
    ...(descending && { descending }),
  };
}

export const pageLength = 100;
const longestPage = 500;

async function readPage(
  company: string,
  filter: SiteFilter,
  { limit, offset }: { readonly limit: number; readonly offset: number },
  signal?: AbortSignal,
) {
  const params = { path: { id: company }, query: { ...queryOf(filter), limit, offset } };
  const call = api.GET("/company/{id}/site-overviews", { params, ...(signal && { signal }) });
  return (await answerOf(call)).company.site_overviews;
}

/** Page `page`, which begins with 0. */
export const overviewPage = (company: string, filter: SiteFilter, page: number) =>
  queryOptions({
    queryKey: ["sites", "overviews", company, filter, page],
    queryFn: ({ signal }) => readPage(company, filter, { limit: pageLength, offset: page * pageLength }, signal),
  });

/** All sites that match, however many. */
export async function allOverviews(company: string, filter: SiteFilter): Promise<readonly SiteOverview[]> {
  // A site that is created meanwhile moves others to the next page.
  const found = new Map<string, SiteOverview>();
  for (let offset = 0; ; offset += longestPage) {
    const { items, total } = await readPage(company, filter, { limit: longestPage, offset });
    for (const site of items) found.set(site.id, site);
    if (offset + longestPage >= total) return [...found.values()];
  }
}

/** The current state of the given sites that still exist and match. Read once, so that a dialog doesn't change while it is open. */
export const presentOverviews = (company: string, filter: SiteFilter, ids: readonly string[]) =>
  queryOptions({
    queryKey: ["present-overviews", company, filter, ids],
    queryFn: async () => {
      const chosen = new Set(ids);
      return (await allOverviews(company, filter)).filter(({ id }) => chosen.has(id));
    },
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
  });
