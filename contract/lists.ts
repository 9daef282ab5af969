/** Long lists, which are read and sent page by page. */
import { type TSchema, Type } from "typebox";
import { result } from "./endpoint.ts";

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

/** Like `result` of an array, for a list that is sent while it is read. `item` is the schema of its items. */
export function pagedResult<S extends TSchema>(fields: readonly string[], description: string, item: S) {
  const listed = result(fields, description, Type.Array(item));
  return { ...listed, result: { ...listed.result, item } };
}
