/** Pictures of pages before an update and after it: taken, compared, and kept for whoever wants to look. */
import { mkdir, readdir, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import path from "node:path";
import * as v from "valibot";
import { takePicture } from "./chromium.ts";
import { differenceOf } from "./difference.ts";
import { type SeePage, startPageProxy } from "./pageProxy.ts";

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

/** Both pictures, in PNG. */
export interface ComparedPage extends Difference {
  readonly before: Buffer;
  readonly after: Buffer;
}

export interface Pictures {
  /**
   * Takes them, compares them and keeps them, of those pages that came before. Rejects where a picture can't be taken; then none
   * is kept.
   */
  compare(wish: PictureWish, signal: AbortSignal): Promise<readonly Difference[]>;
}

export interface PictureStore {
  /** Empty where none are kept under this id. */
  find(id: string): Promise<readonly ComparedPage[]>;
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

/** Notes which pages did not come: one that PHP can't make without changing something, say. */
function watched(see: SeePage): { readonly see: SeePage; readonly missing: ReadonlySet<string> } {
  const missing = new Set<string>();
  return {
    missing,
    see: async (page, signal) => {
      const seen = await see(page, signal);
      if (seen.status === 0 || seen.status >= 500) missing.add(page);
      return seen;
    },
  };
}

/** `chromium`: path of the program. */
export function makePictures({ chromium, folder }: { readonly chromium: string; readonly folder: string }): Pictures {
  async function takeAll(
    see: SeePage,
    files: readonly (readonly [string, string])[],
    host: string,
    signal: AbortSignal,
  ) {
    await using proxy = await startPageProxy(host, see);
    for (const [page, file] of files) {
      await takePicture({ chromium, url: `http://${host}${page}`, proxyPort: proxy.port, file }, signal);
    }
  }

  return {
    compare: async ({ id, host, paths, before, after }, signal) => {
      const place = path.join(folder, checkId(id));
      const beside = `${place}.new`;
      await rm(beside, { recursive: true, force: true });
      await mkdir(beside, { recursive: true, mode: 0o700 });
      try {
        const files = (when: "before" | "after") =>
          paths.map((page, at) => [page, path.join(beside, fileOf(at, when))] as const);
        const { see, missing } = watched(before);
        await takeAll(see, files("before"), host, signal);
        const pages = files("after").filter(([page]) => !missing.has(page));
        await takeAll(after, pages, host, signal);
        const found: v.InferOutput<typeof index> = [];
        for (const [at, page] of paths.entries()) {
          if (missing.has(page)) continue;
          const [one, other] = [path.join(beside, fileOf(at, "before")), path.join(beside, fileOf(at, "after"))];
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

export function openPictureStore(folder: string): PictureStore {
  return {
    find: async (id) => {
      const place = path.join(folder, checkId(id));
      const text = await readFile(path.join(place, indexFile), "utf8").catch(() => null);
      if (text === null) return [];
      return Promise.all(
        v.parse(index, JSON.parse(text)).map(async ({ at, ...one }) => ({
          ...one,
          before: await readFile(path.join(place, fileOf(at, "before"))),
          after: await readFile(path.join(place, fileOf(at, "after"))),
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
