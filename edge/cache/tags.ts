/**
 * Cache tags: names of what a page shows, such as one post or a list of all posts. A purge names the tags of what has
 * changed, so it finds pages whose addresses WordPress doesn't know: a page with a block of the latest posts.
 */

/** A page's tags, each between spaces: an array would need several times the memory. Null if they are not known. */
export type PageTags = string | null;

export function joinTags(tags: readonly string[] | null): PageTags {
  return tags === null ? null : ` ${tags.join(" ")} `;
}

/** Whether the page may show something that has one of these tags. */
export function hasTagOf(page: PageTags, tags: readonly string[]): boolean {
  return tags.length > 0 && (page === null || tags.some((tag) => page.includes(` ${tag} `)));
}
