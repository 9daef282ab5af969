/**
 * Reads long lists in pages, each with one statement that continues after the last row of the previous page. Between pages, a
 * reader holds no connection, transaction or cursor, however long it takes.
 */
import type { ListPage, ReadPage } from "@sitewright/contract/lists.ts";

/** The part of a list to read. */
export interface Window<Row> {
  /** Only rows after this one; null for the start of the list. */
  readonly after: Row | null;
  /** Maximum number of rows; null for all. */
  readonly limit: number | null;
  /** Number of rows to skip. */
  readonly offset: number;
}

/** `last`: the place of the last row, or null if there are none. */
interface Rows<Place, Row> {
  readonly items: readonly Row[];
  readonly last: Place | null;
}

/** Reads the rows of one page. */
type ReadRows<Place, Row> = (window: Window<Place> & { readonly limit: number }) => Promise<Rows<Place, Row>>;

/** Returns the function that reads the first page. `Place` are the columns that the list is sorted by. */
export function inPages<Place, Row>(
  pageSize: number,
  { after, limit, offset }: Window<Place>,
  readRows: ReadRows<Place, Row>,
): ReadPage<Row> {
  async function read(from: Place | null, left: number, skipped: number): Promise<ListPage<Row>> {
    const size = Math.min(pageSize, left);
    const page = size === 0 ? { items: [], last: null } : await readRows({ after: from, limit: size, offset: skipped });
    const { items, last } = page;
    const hasEnded = last === null || items.length < size || size === left;
    return { items, next: hasEnded ? null : () => read(last, left - size, 0) };
  }
  return () => read(after, limit ?? Number.POSITIVE_INFINITY, offset);
}
