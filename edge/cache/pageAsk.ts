/** A page that many visitors get, and its key (`askForPage.ts` says which visitors). */
import type { EdgeEnvironment } from "../tables/table.ts";

export interface PageAsk {
  readonly environmentId: string;
  /** The same for the same page. */
  readonly key: string;
  /** Where in the site it is, for those who say which pages are not right any more. */
  readonly place: PageAddress;
  /** Path and query to ask PHP for. */
  readonly url: string;
  /** To ask PHP with. */
  readonly headers: Readonly<Record<string, string>>;
}

export interface PageAddress {
  /** Decoded. */
  readonly segments: readonly string[];
  /** As `pageQuery` gives it. */
  readonly query: string;
}

/** What all keys of the environment's present pages begin with; null if none are kept. */
export function versionOf({ id, pageCache, release, phpVersion, phpRun = 0 }: EdgeEnvironment): string | null {
  return pageCache === undefined ? null : [id, pageCache.epoch, release, phpVersion, phpRun].join(" ");
}

/** The same page in the languages that the visitor reads. */
export function inLanguage(ask: PageAsk, language: string | undefined): PageAsk {
  const wanted = (language ?? "*").toLowerCase().replace(/\s+/g, "");
  const headers = language === undefined ? ask.headers : { ...ask.headers, "accept-language": wanted };
  return { ...ask, key: `${ask.key} ${wanted}`, headers };
}
