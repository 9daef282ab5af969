/**
 * The part of an address after the question mark, as far as WordPress makes another page of it.
 *
 * What advertisers add to addresses to recognise their visitors makes no other page, and is left out; PHP is asked without
 * it, too. With anything else that WordPress itself does not know, nobody knows which pages there are.
 */

/** By which WordPress finds pages where addresses have no words, and parts of them everywhere. */
const known = new Set([
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

const tracking =
  /^(?:utm_[a-z_]+|hsa_[a-z_]+|mtm_[a-z_]+|pk_[a-z_]+|piwik_[a-z_]+|matomo_[a-z_]+|_hs(?:enc|mi)|mc_[ce]id|_gl|_ga|gclid|gclsrc|gbraid|wbraid|dclid|gad_(?:source|campaignid)|srsltid|fbclid|igshid|msclkid|yclid|ttclid|twclid|li_fat_id|rdt_cid|ScCid|epik|vero_id|vero_conv|mkt_tok|s_kwcid|ef_id)$/;

const plainValue = /^[\w.~:,%+-]*$/;
const longest = 500;

/**
 * The query that makes the same page: without what makes none, in one order, with its question mark. Empty: there is
 * none. Null if pages of it are not kept. `query` is as it was sent, with its question mark, or empty.
 */
export function pageQuery(query: string): string | null {
  if (query.length <= 1) return "";
  if (query.length > longest) return null;
  const kept = new Map<string, string>();
  for (const field of query.slice(1).split("&")) {
    const [name = "", ...rest] = field.split("=");
    if (field === "" || tracking.test(name)) continue;
    const value = rest.join("=");
    // Of a name that comes twice, PHP believes the last; others may believe the first.
    if (!known.has(name) || kept.has(name) || !plainValue.test(value)) return null;
    kept.set(name, value);
  }
  const fields = [...kept].sort(([a], [b]) => (a < b ? -1 : 1)).map(([name, value]) => `${name}=${value}`);
  return fields.length === 0 ? "" : `?${fields.join("&")}`;
}
