/**
 * Decides which cached pages are removed when the cache is full, and in the cache of files which files.
 *
 * Anyone may use space that no one else needs. When space runs out, the company with the most pages in bytes loses some,
 * from its environment with the most. So no one below an equal share ever loses a page to someone above it.
 *
 * Within an environment, pages that were asked for only once go first, and of the others those that have not been asked
 * for recently: a program that requests many URLs doesn't push out the pages that people read. Variants of pages, such as
 * `?lang=en`, can be invented without limit, so they go first while they have more than a quarter of the environment's
 * space.
 *
 * A request for a page costs one comparison and one assignment, whatever the number of pages.
 */

/** The part of a page that matters here. */
export interface Shareable {
  readonly environmentId: string;
  readonly bytes: number;
  /** Whether the visitor chose among many addresses or languages for the same page. */
  readonly isVariant: boolean;
}

/** A page in the cache. */
export interface Held<Page extends Shareable> {
  readonly page: Page;
  /** Whether it was asked for again since it was added. */
  isAskedAgain: boolean;
  /** Whether it was asked for once more since then, or since it was last considered for removal. */
  isRecent: boolean;
}

export interface CacheShares<Page extends Shareable> {
  /** Adds a page. It counts as asked for again if `isAskedAgain`, because it replaces such a page. */
  add(page: Page, isAskedAgain: boolean): Held<Page>;
  /** Removes pages until all fit, possibly the last one added. */
  makeRoom(): void;
  /** Notes that the page was asked for. Returns whether that was the first time since it was added. */
  touch(held: Held<Page>): boolean;
  /** The page must be in the cache. */
  remove(held: Held<Page>): void;
  /** The environment's pages, which the caller may remove meanwhile. */
  of(environmentId: string): readonly Held<Page>[];
  environments(): readonly string[];
  /** Sets who pays for each environment. Those that are missing pay for themselves. */
  setPayers(payers: ReadonlyMap<string, string>): void;
  bytes(): number;
}

/** Sets keep the order in which pages were added, or last considered for removal. */
interface Shelf<Page extends Shareable> {
  readonly once: Set<Held<Page>>;
  readonly again: Set<Held<Page>>;
  onceBytes: number;
  bytes: number;
}

interface Space<Page extends Shareable> {
  readonly pages: Shelf<Page>;
  readonly variants: Shelf<Page>;
  payer: Payer<Page>;
  bytes: number;
}

interface Payer<Page extends Shareable> {
  readonly spaces: Set<Space<Page>>;
  bytes: number;
}

/** Of an environment's space. */
const maxVariants = 1 / 4;
/** Of a shelf: new pages need a chance to be asked for again. */
const minOnce = 1 / 10;

/** `onRemoval` is called for each page that is removed because others need the space. */
export function createCacheShares<Page extends Shareable>(
  maxBytes: number,
  onRemoval: (page: Page) => void,
): CacheShares<Page> {
  const spaces = new Map<string, Space<Page>>();
  const payers = new Map<string, Payer<Page>>();
  let payerIds: ReadonlyMap<string, string> = new Map();
  let bytes = 0;

  function payerOf(environmentId: string): Payer<Page> {
    const id = payerIds.get(environmentId) ?? environmentId;
    const payer = payers.get(id) ?? { spaces: new Set(), bytes: 0 };
    payers.set(id, payer);
    return payer;
  }

  function spaceOf(environmentId: string): Space<Page> {
    const known = spaces.get(environmentId);
    if (known !== undefined) return known;
    const space = { pages: emptyShelf<Page>(), variants: emptyShelf<Page>(), payer: payerOf(environmentId), bytes: 0 };
    space.payer.spaces.add(space);
    spaces.set(environmentId, space);
    return space;
  }

  /** `change` is the size of the page, negative if it is removed. */
  function count(space: Space<Page>, { page, isAskedAgain }: Held<Page>, change: number): void {
    const shelf = shelfOf(space, page);
    if (!isAskedAgain) shelf.onceBytes += change;
    shelf.bytes += change;
    space.bytes += change;
    space.payer.bytes += change;
    bytes += change;
  }

  function remove(held: Held<Page>): void {
    const { environmentId } = held.page;
    const space = spaceOf(environmentId);
    const shelf = shelfOf(space, held.page);
    (held.isAskedAgain ? shelf.again : shelf.once).delete(held);
    count(space, held, -held.page.bytes);
    if (space.bytes > 0) return;
    spaces.delete(environmentId);
    space.payer.spaces.delete(space);
  }

  function makeRoom(): void {
    while (bytes > maxBytes) {
      const [payer, payerLead] = largest(payers.values());
      const [space, spaceLead] = largest(payer?.spaces ?? []);
      if (space === null) return;
      // Until another payer or environment has the most.
      const lead = Math.min(payerLead, spaceLead);
      for (let freed = 0; freed <= lead && bytes > maxBytes && space.bytes > 0; ) {
        const held = leastWanted(space);
        if (held === null) return;
        remove(held);
        onRemoval(held.page);
        freed += held.page.bytes;
      }
    }
  }

  return {
    add(page, isAskedAgain) {
      const held = { page, isAskedAgain, isRecent: false };
      const space = spaceOf(page.environmentId);
      const shelf = shelfOf(space, page);
      (isAskedAgain ? shelf.again : shelf.once).add(held);
      count(space, held, page.bytes);
      return held;
    },
    makeRoom,
    touch(held) {
      if (held.isAskedAgain) {
        held.isRecent = true;
        return false;
      }
      held.isAskedAgain = true;
      const shelf = shelfOf(spaceOf(held.page.environmentId), held.page);
      shelf.once.delete(held);
      shelf.again.add(held);
      shelf.onceBytes -= held.page.bytes;
      return true;
    },
    remove,
    of(environmentId) {
      const space = spaces.get(environmentId);
      if (space === undefined) return [];
      return [space.pages, space.variants].flatMap(({ once, again }) => [...once, ...again]);
    },
    environments: () => [...spaces.keys()],
    setPayers(next) {
      payerIds = next;
      payers.clear();
      for (const [environmentId, space] of spaces) {
        space.payer = payerOf(environmentId);
        space.payer.spaces.add(space);
        space.payer.bytes += space.bytes;
      }
    },
    bytes: () => bytes,
  };
}

function emptyShelf<Page extends Shareable>(): Shelf<Page> {
  return { once: new Set(), again: new Set(), onceBytes: 0, bytes: 0 };
}

function shelfOf<Page extends Shareable>({ pages, variants }: Space<Page>, { isVariant }: Page): Shelf<Page> {
  return isVariant ? variants : pages;
}

/** The one with the most bytes, and by how much it leads. */
function largest<Item extends { readonly bytes: number }>(items: Iterable<Item>): [item: Item | null, lead: number] {
  let first: Item | null = null;
  let second = 0;
  for (const item of items) {
    if (first === null) first = item;
    else if (item.bytes > first.bytes) {
      second = first.bytes;
      first = item;
    } else second = Math.max(second, item.bytes);
  }
  return [first, (first?.bytes ?? 0) - second];
}

function leastWanted<Page extends Shareable>({ pages, variants, bytes }: Space<Page>): Held<Page> | null {
  const shelf = pages.bytes === 0 || variants.bytes > bytes * maxVariants ? variants : pages;
  const { once, again, onceBytes } = shelf;
  const [oldest = null] = once;
  const isOnceFull = once.size > 1 && onceBytes > shelf.bytes * minOnce;
  return isOnceFull || again.size === 0 ? oldest : leastRecent(again);
}

/** The first page that has not been asked for since it was last considered (second chance). */
function leastRecent<Page extends Shareable>(again: Set<Held<Page>>): Held<Page> | null {
  // Pages that are added again are visited again, without their mark: the loop ends.
  for (const held of again) {
    if (!held.isRecent) return held;
    held.isRecent = false;
    again.delete(held);
    again.add(held);
  }
  return null;
}
