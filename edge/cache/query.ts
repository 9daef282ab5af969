/**
 * Normalises the query of a URL for the page cache.
 *
 * Tracking fields of advertisers don't change a page, so they are left out of the key and of the request to PHP. A page
 * is not cached if its query has any other field that WordPress itself doesn't use, because it may have any effect.
 */

/** WordPress's own query fields, for plain permalinks and for parts of a page. */
const knownFields = new Set([
  ...[
    "p",
    "page_id",
    "attachment_id",
    "name",
    "pagename",
    "post_type",
    "cat",
    "tag",
    "author",
    "author_name",
    "taxonomy",
  ],
  ...["term", "m", "year", "monthnum", "day", "paged", "page", "cpage", "feed", "lang", "sitemap", "sitemap-subtype"],
]);

const trackingField =
  /^(?:utm_[a-z_]+|hsa_[a-z_]+|mtm_[a-z_]+|pk_[a-z_]+|piwik_[a-z_]+|matomo_[a-z_]+|_hs(?:enc|mi)|mc_[ce]id|_gl|_ga|gclid|gclsrc|gbraid|wbraid|dclid|gad_(?:source|campaignid)|srsltid|fbclid|igshid|msclkid|yclid|ttclid|twclid|li_fat_id|rdt_cid|ScCid|epik|vero_id|vero_conv|mkt_tok|s_kwcid|ef_id)$/;

const plainValue = /^[\w.~:,%+-]*$/;
const maxLength = 500;

/**
 * Returns the query without tracking fields and sorted, with its question mark; empty if nothing is left. Null if such
 * pages are not cached. `query` is as sent, with its question mark, or empty.
 */
export function pageQuery(query: string): string | null {
  if (query.length <= 1) return "";
  if (query.length > maxLength) return null;
  const kept = new Map<string, string>();
  for (const field of query.slice(1).split("&")) {
    const [name = "", ...rest] = field.split("=");
    if (field === "" || trackingField.test(name)) continue;
    const value = rest.join("=");
    // PHP uses the last of two fields with the same name, other programs may use the first.
    if (!knownFields.has(name) || kept.has(name) || !plainValue.test(value)) return null;
    kept.set(name, value);
  }
  const fields = [...kept].sort(([a], [b]) => (a < b ? -1 : 1)).map(([name, value]) => `${name}=${value}`);
  return fields.length === 0 ? "" : `?${fields.join("&")}`;
}
