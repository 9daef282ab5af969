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

/** Reads the rows of one page. */
type ReadRows<Row, Place> = (window: Window<Place> & { readonly limit: number }) => Promise<readonly Row[]>;

/** Returns the function that reads the first page. `Place` are the columns that the list is sorted by. */
export function inPages<Place, Row extends Place>(
  pageSize: number,
  { after, limit, offset }: Window<Place>,
  readRows: ReadRows<Row, Place>,
): ReadPage<Row> {
  async function read(from: Place | null, left: number, skipped: number): Promise<ListPage<Row>> {
    const size = Math.min(pageSize, left);
    const items = size === 0 ? [] : await readRows({ after: from, limit: size, offset: skipped });
    const last = items.at(-1);
    const hasEnded = last === undefined || items.length < size || size === left;
    return { items, next: hasEnded ? null : () => read(last, left - size, 0) };
  }
  return () => read(after, limit ?? Number.POSITIVE_INFINITY, offset);
}
