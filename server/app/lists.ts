/** Long lists of a company, which are read and sent page by page. */
import type { PagedList, ReadPage } from "@sitewright/contract/lists.ts";
import { readListVersion } from "@sitewright/server/store/listVersions.ts";
import type { Window } from "@sitewright/server/store/pages.ts";
import { sitesInScope } from "./company/access.ts";
import type { Context } from "./context.ts";
import { Refused } from "./failures.ts";

export interface ListQuery {
  readonly limit?: number;
  readonly offset?: number;
  /** The id of an item of the list. */
  readonly after?: string;
}

/** Finds where an item is in the list. Returns null if it is not in the list. */
type FindPlace<Place> = (id: string) => Promise<Place | null>;

/** The part of the list that the query asks for. Throws `Refused` if `after` is not in the list. */
export async function windowOf<Place>(query: ListQuery, noun: string, find: FindPlace<Place>): Promise<Window<Place>> {
  const { limit = null, offset = 0, after } = query;
  if (after === undefined) return { after: null, limit, offset };
  const place = await find(after);
  if (place !== null) return { after: place, limit, offset };
  throw unknownCursor(noun, after);
}

/** The refusal of a value of `after` that is not in the list. */
export function unknownCursor(noun: string, after: string): Refused {
  const message = `There is no ${noun} with the id ${after} in this list; it may have been removed. Send the id of a listed ${noun}, or leave out after to start from the beginning.`;
  return new Refused("unknown_cursor", message, { fields: ["after"] });
}

/**
 * A list that shows nothing but sites, environments, domains and locks of the company, and `given`. Pages after the first one
 * are read when it is the company's turn.
 */
export async function companyList<Row, Item>(
  { pool, caller, settings, exports, signal }: Context,
  given: object,
  readRows: ReadPage<Row>,
  view: (row: Row) => Item,
): Promise<PagedList<Item>> {
  const { companyId } = caller;
  const inTurn =
    (read: ReadPage<Row>): ReadPage<Item> =>
    () =>
      exports.run(companyId, pageOf(read), signal);
  const pageOf =
    (read: ReadPage<Row>): ReadPage<Item> =>
    async () => {
      const { items, next } = await read();
      return { items: items.map(view), next: next && inTurn(next) };
    };
  const changes = await readListVersion(pool, companyId);
  return {
    version: JSON.stringify([changes, companyId, sitesInScope(caller), settings.host, given]),
    read: pageOf(readRows),
  };
}
