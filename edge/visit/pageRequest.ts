/** A request for a public page: its cache key, and what PHP is asked (`readPageRequest`). */
import type { EdgeEnvironment } from "../tables/table.ts";

export interface PageRequest {
  readonly environmentId: string;
  /** Equal for requests that get the same page. */
  readonly key: string;
  /** The page's address in the site, used to purge it. */
  readonly address: PageAddress;
  /** Whether it is one of many possible forms of a page: with a query, a language or an unusual port. */
  readonly isVariant: boolean;
  /** Path and query for PHP. */
  readonly url: string;
  /** Request headers for PHP. */
  readonly headers: Readonly<Record<string, string>>;
}

export interface PageAddress {
  /** Decoded. */
  readonly segments: readonly string[];
  /** As returned by `pageQuery`. */
  readonly query: string;
}

/** The version that starts the keys of all current pages of the environment, or null if its pages are not cached. */
export function versionOf({ id, pageCache, release, phpVersion, phpRestarts = 0 }: EdgeEnvironment): string | null {
  return pageCache === undefined ? null : [id, pageCache.epoch, release, phpVersion, phpRestarts].join(" ");
}

/** The same request for a page that depends on the visitor's languages. */
export function withLanguage(ask: PageRequest, language: string | undefined): PageRequest {
  const wanted = (language ?? "*").toLowerCase().replace(/\s+/g, "");
  const headers = language === undefined ? ask.headers : { ...ask.headers, "accept-language": wanted };
  return { ...ask, key: `${ask.key} ${wanted}`, isVariant: true, headers };
}
