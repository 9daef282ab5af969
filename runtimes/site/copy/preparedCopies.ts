/**
 * Prepares copies of the default template: a new site takes one with a rename instead of waiting for five hundred files
 * to be copied. This only saves time: if no copy is ready, or it can't be moved, the template is copied as usual.
 *
 * Leftovers of an earlier process are removed: after a power failure they might contain empty files.
 */
import { randomUUID } from "node:crypto";
import { mkdir, rename } from "node:fs/promises";
import path from "node:path";
import { removeTree } from "../../folders.ts";
import type { Template } from "../template.ts";
import { copyTemplate } from "./copyTemplate.ts";

/** Pause after a copy was taken, so that the new site's first page comes first. */
const pauseMilliseconds = 600;
const failurePauseMilliseconds = 30_000;

export interface PreparedCopies {
  /** Fills the empty folder `release` like `copyTemplate`. Returns false if it is still empty. */
  take(template: Template, release: string): Promise<boolean>;
}

export const noPreparedCopies: PreparedCopies = { take: async () => false };

interface PreparedCopiesOptions {
  /** A folder used only for this, on the environments' file system. */
  readonly folder: string;
  readonly count: number;
  readonly template: () => Promise<Template>;
}

export function prepareCopies({ folder, count, template }: PreparedCopiesOptions): PreparedCopies {
  let ready: readonly { readonly template: string; readonly folder: string }[] = [];
  let timer: NodeJS.Timeout | null = null;
  let cleared: Promise<void> | null = null;
  let isMovable = true;

  async function clear(): Promise<void> {
    await removeTree(folder);
    await mkdir(folder, { recursive: true, mode: 0o700 });
  }

  async function makeOne(): Promise<void> {
    cleared ??= clear();
    await cleared;
    const source = await template();
    const copy = path.join(folder, randomUUID());
    await mkdir(copy);
    try {
      await copyTemplate(source, copy);
    } catch (error) {
      await removeTree(copy);
      throw error;
    }
    ready = [...ready, { template: source.folder, folder: copy }];
  }

  function makeSoon(milliseconds: number): void {
    if (!isMovable || timer !== null || ready.length >= count) return;
    timer = setTimeout(async () => {
      const failed = await makeOne().then(
        () => false,
        () => true,
      );
      timer = null;
      makeSoon(failed ? failurePauseMilliseconds : pauseMilliseconds);
    }, milliseconds);
    timer.unref();
  }

  makeSoon(pauseMilliseconds);
  return {
    async take(wanted, release) {
      const [found, ...others] = ready;
      if (found === undefined || found.template !== wanted.folder) return false;
      ready = others;
      makeSoon(pauseMilliseconds);
      try {
        await rename(found.folder, release);
        return true;
      } catch {
        // The environments are on another file system.
        isMovable = false;
        await removeTree(found.folder);
        return false;
      }
    },
  };
}
