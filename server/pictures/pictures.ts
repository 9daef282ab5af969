/** Screenshots of pages before and after an update: taken, compared and stored. */
import { mkdir, readdir, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import path from "node:path";
import * as v from "valibot";
import { takePicture } from "./chromium.ts";
import { differenceOf } from "./difference.ts";
import { type SeenPage, type SeePage, startPageProxy } from "./pageProxy.ts";

export interface PictureWish {
  /** Names the pictures: those that it had are replaced. */
  readonly id: string;
  /** Of the site, with its port where it has one. */
  readonly host: string;
  readonly paths: readonly string[];
  readonly before: SeePage;
  readonly after: SeePage;
}

export interface Difference {
  readonly path: string;
  /** From 0 to 1. */
  readonly share: number;
}

export interface KeptPicture {
  readonly bytes: number;
  /** Null: it was not asked for. */
  readonly png: Buffer | null;
}

export interface ComparedPage extends Difference {
  readonly before: KeptPicture;
  readonly after: KeptPicture;
}

export interface Pictures {
  /**
   * Takes them, compares them and keeps them. A page that was an error before, or could not be made without changing something, is
   * left out. Rejects if a picture can't be taken, or something of a page can't be had; then none is kept.
   */
  compare(wish: PictureWish, signal: AbortSignal): Promise<readonly Difference[]>;
}

export interface PictureStore {
  /**
   * The pages that were compared under this id, without the pictures; or the one of this path, with them. Empty if nothing of
   * the kind is kept.
   */
  find(id: string, only: string | null): Promise<readonly ComparedPage[]>;
  /** Removes those that were taken before. */
  expire(before: Date): Promise<void>;
}

const index = v.array(v.object({ at: v.number(), path: v.string(), share: v.number() }));
const indexFile = "index.json";
const fileOf = (at: number, when: "before" | "after") => `${at}-${when}.png`;

function checkId(id: string): string {
  if (!/^[0-9A-Za-z-]+$/.test(id)) throw new Error(`Not a name: ${id}`);
  return id;
}

/** A page as a browser opens it, with what it consists of. */
interface Visit {
  readonly see: SeePage;
  /** Whether it can be compared. Throws if it is not known how it looks. */
  hasCome(): boolean;
}

const silence: SeenPage = { status: 0, reason: null, type: "", content: Buffer.of(), location: null };

/** What a page leads to on the same site is that page. */
function visitTo(page: string, host: string, see: SeePage): Visit {
  let at = new URL(`http://${host}${page}`);
  let last: SeenPage | null = null;
  let failure: Error | null = null;
  const note = (seen: SeenPage) => {
    last = seen;
    const { location, reason } = seen;
    const next = location === null ? null : URL.parse(location, at.href);
    if (next?.host === at.host) at = next;
    if (reason !== null && reason !== "wouldWrite") failure = new Error(`There is no answer to ${page}: ${reason}`);
  };
  return {
    see: async (path, signal) => {
      const seen = await see(path, signal).catch((cause: unknown) => {
        failure = new Error(`${path} can't be had`, { cause });
        return silence;
      });
      if (path === at.pathname + at.search) note(seen);
      return seen;
    },
    hasCome: () => {
      if (failure !== null) throw failure;
      if (last === null) throw new Error(`The browser did not ask for ${page}`);
      return last.reason === null && last.status < 500;
    },
  };
}

/** `chromium`: path of the program. */
export function makePictures({ chromium, folder }: { readonly chromium: string; readonly folder: string }): Pictures {
  /** False if it is a picture of no page that could be compared. */
  async function take(visit: Visit, url: string, file: string, signal: AbortSignal): Promise<boolean> {
    await using proxy = await startPageProxy(new URL(url).host, visit.see);
    await takePicture({ chromium, url, proxyPort: proxy.port, file }, signal);
    return visit.hasCome();
  }

  return {
    compare: async ({ id, host, paths, before, after }, signal) => {
      const place = path.join(folder, checkId(id));
      const beside = `${place}.new`;
      await rm(beside, { recursive: true, force: true });
      await mkdir(beside, { recursive: true, mode: 0o700 });
      try {
        const takeOne = (see: SeePage, page: string, file: string) =>
          take(visitTo(page, host, see), `http://${host}${page}`, file, signal);
        const found: v.InferOutput<typeof index> = [];
        for (const [at, page] of paths.entries()) {
          const [one, other] = [path.join(beside, fileOf(at, "before")), path.join(beside, fileOf(at, "after"))];
          if (!(await takeOne(before, page, one))) continue;
          await takeOne(after, page, other);
          found.push({ at, path: page, share: await differenceOf({ before: one, after: other }) });
        }
        await writeFile(path.join(beside, indexFile), JSON.stringify(found), { mode: 0o600 });
        await rm(place, { recursive: true, force: true });
        await rename(beside, place);
        return found.map(({ path: page, share }) => ({ path: page, share }));
      } finally {
        await rm(beside, { recursive: true, force: true });
      }
    },
  };
}

async function keptPicture(file: string, isWanted: boolean): Promise<KeptPicture> {
  const { size } = await stat(file);
  return { bytes: size, png: isWanted ? await readFile(file) : null };
}

export function openPictureStore(folder: string): PictureStore {
  return {
    find: async (id, only) => {
      const place = path.join(folder, checkId(id));
      const text = await readFile(path.join(place, indexFile), "utf8").catch(() => null);
      if (text === null) return [];
      const pages = v.parse(index, JSON.parse(text)).filter((page) => only === null || page.path === only);
      return Promise.all(
        pages.map(async ({ at, ...page }) => ({
          ...page,
          before: await keptPicture(path.join(place, fileOf(at, "before")), only !== null),
          after: await keptPicture(path.join(place, fileOf(at, "after")), only !== null),
        })),
      );
    },
    expire: async (before) => {
      for (const name of await readdir(folder).catch(() => [])) {
        const place = path.join(folder, name);
        const facts = await stat(place).catch(() => null);
        if (facts !== null && facts.mtime < before) await rm(place, { recursive: true, force: true });
      }
    },
  };
}
