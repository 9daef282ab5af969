/** Long lists, which are read and sent page by page. */

/** What a call returns if its row has a `pagedResult`. */
export interface PagedList<Item> {
  /** Changes whenever the list does, so that an unchanged list need not be read. */
  readonly version: string;
  /** Reads the first page. */
  readonly read: ReadPage<Item>;
}

export type ReadPage<Item> = () => Promise<ListPage<Item>>;

export interface ListPage<Item> {
  readonly items: readonly Item[];
  /** Reads the next page; null after the last one. */
  readonly next: ReadPage<Item> | null;
}
