/** Screenshots of pages before and after an update: taken, compared and stored. */
import { mkdir, readdir, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import path from "node:path";
import * as v from "valibot";
import { takeScreenshot } from "./chromium.ts";
import { compareScreenshots } from "./compareScreenshots.ts";
import { type LoadedPage, type LoadPage, startPageProxy } from "./pageProxy.ts";

export interface Comparison {
  /** Id of the screenshots. Earlier ones with the same id are replaced. */
  readonly id: string;
  /** The site's host, with its port if it has one. */
  readonly host: string;
  readonly paths: readonly string[];
  readonly before: LoadPage;
  readonly after: LoadPage;
}

export interface Difference {
  readonly path: string;
  /** From 0 to 1. */
  readonly share: number;
}

export interface StoredScreenshot {
  readonly bytes: number;
  /** Null if it was not requested. */
  readonly png: Buffer | null;
}

export interface ComparedPage extends Difference {
  readonly before: StoredScreenshot;
  readonly after: StoredScreenshot;
}

export interface Screenshots {
  /**
   * Takes screenshots, compares and stores them. A page that was an error before, or can't be rendered without writing, is
   * left out. Rejects if a screenshot can't be taken or a resource can't be loaded; nothing is then stored.
   */
  compare(comparison: Comparison, signal: AbortSignal): Promise<readonly Difference[]>;
}

export interface ScreenshotStore {
  /**
   * The pages with this id, without their PNGs; or only the page with the path `only`, with its PNGs. Empty if there are none.
   */
  find(id: string, only: string | null): Promise<readonly ComparedPage[]>;
  /** Removes screenshots that were taken before `before`. */
  expire(before: Date): Promise<void>;
}

const index = v.array(v.object({ at: v.number(), path: v.string(), share: v.number() }));
const indexFile = "index.json";
const fileOf = (at: number, when: "before" | "after") => `${at}-${when}.png`;

function checkId(id: string): string {
  if (!/^[0-9A-Za-z-]+$/.test(id)) throw new Error(`Invalid id: ${id}`);
  return id;
}

/** A page that the browser opens, with its resources. */
interface Visit {
  readonly load: LoadPage;
  /** Whether the page can be compared. Throws if it was not loaded completely. */
  isComparable(): boolean;
}

const noAnswer: LoadedPage = { status: 0, reason: null, type: "", content: Buffer.of(), location: null };

/** Follows redirects on the same site. */
function visitTo(page: string, host: string, load: LoadPage): Visit {
  let at = new URL(`http://${host}${page}`);
  let last: LoadedPage | null = null;
  let failure: Error | null = null;
  const note = (loaded: LoadedPage) => {
    last = loaded;
    const { location, reason } = loaded;
    const next = location === null ? null : URL.parse(location, at.href);
    if (next?.host === at.host) at = next;
    if (reason !== null && reason !== "wouldWrite" && reason !== "diskFull")
      failure = new Error(`${page} was not answered: ${reason}`);
  };
  return {
    load: async (path, signal) => {
      const loaded = await load(path, signal).catch((cause: unknown) => {
        failure = new Error(`${path} can't be loaded`, { cause });
        return noAnswer;
      });
      if (path === at.pathname + at.search) note(loaded);
      return loaded;
    },
    isComparable: () => {
      if (failure !== null) throw failure;
      if (last === null) throw new Error(`The browser did not request ${page}`);
      return last.reason === null && last.status < 500;
    },
  };
}

/** `chromium`: path of the program. */
export function makeScreenshots({
  chromium,
  folder,
}: {
  readonly chromium: string;
  readonly folder: string;
}): Screenshots {
  /** Returns false if the page can't be compared. */
  async function take(visit: Visit, url: string, file: string, signal: AbortSignal): Promise<boolean> {
    await using proxy = await startPageProxy(new URL(url).host, visit.load);
    await takeScreenshot({ chromium, url, proxyPort: proxy.port, file }, signal);
    return visit.isComparable();
  }

  return {
    compare: async ({ id, host, paths, before, after }, signal) => {
      const place = path.join(folder, checkId(id));
      const unfinished = `${place}.new`;
      await rm(unfinished, { recursive: true, force: true });
      await mkdir(unfinished, { recursive: true, mode: 0o700 });
      try {
        const takeOne = (load: LoadPage, page: string, file: string) =>
          take(visitTo(page, host, load), `http://${host}${page}`, file, signal);
        const found: v.InferOutput<typeof index> = [];
        for (const [at, page] of paths.entries()) {
          const [one, other] = [
            path.join(unfinished, fileOf(at, "before")),
            path.join(unfinished, fileOf(at, "after")),
          ];
          if (!(await takeOne(before, page, one))) continue;
          await takeOne(after, page, other);
          found.push({ at, path: page, share: await compareScreenshots({ before: one, after: other }) });
        }
        await writeFile(path.join(unfinished, indexFile), JSON.stringify(found), { mode: 0o600 });
        await rm(place, { recursive: true, force: true });
        await rename(unfinished, place);
        return found.map(({ path: page, share }) => ({ path: page, share }));
      } finally {
        await rm(unfinished, { recursive: true, force: true });
      }
    },
  };
}

async function readScreenshot(file: string, isWanted: boolean): Promise<StoredScreenshot> {
  const { size } = await stat(file);
  return { bytes: size, png: isWanted ? await readFile(file) : null };
}

export function openScreenshotStore(folder: string): ScreenshotStore {
  return {
    find: async (id, only) => {
      const place = path.join(folder, checkId(id));
      const text = await readFile(path.join(place, indexFile), "utf8").catch(() => null);
      if (text === null) return [];
      const pages = v.parse(index, JSON.parse(text)).filter((page) => only === null || page.path === only);
      return Promise.all(
        pages.map(async ({ at, ...page }) => ({
          ...page,
          before: await readScreenshot(path.join(place, fileOf(at, "before")), only !== null),
          after: await readScreenshot(path.join(place, fileOf(at, "after")), only !== null),
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
