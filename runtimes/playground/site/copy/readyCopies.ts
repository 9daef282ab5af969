/**
 * Copies of the usual template that lie ready: a new site takes one by a rename instead of waiting for five hundred
 * files to be copied. Which only saves time: where none is ready, or it can't be moved, the site is copied as always.
 *
 * What an earlier process has left is thrown away. After a power failure it might hold files without their content.
 */
import { randomUUID } from "node:crypto";
import { mkdir, rename } from "node:fs/promises";
import path from "node:path";
import { removeTree } from "../../../folders.ts";
import type { Template } from "../../templates/template.ts";
import { copyTemplate } from "./copyTemplate.ts";

/** After one was taken: the new site's first page comes first. */
const pauseMilliseconds = 600;
const failurePauseMilliseconds = 30_000;

export interface ReadyCopies {
  /** Gives `release`, an empty folder, what `copyTemplate` would. False if it is still empty. */
  take(template: Template, release: string): Promise<boolean>;
}

export const noReadyCopies: ReadyCopies = { take: async () => false };

export interface ReadyCopiesOptions {
  /** A folder for this alone, with this owner, on the file system of the environments. */
  readonly folder: string;
  readonly count: number;
  readonly template: () => Promise<Template>;
}

export function keepReadyCopies({ folder, count, template }: ReadyCopiesOptions): ReadyCopies {
  let ready: readonly { readonly of: string; readonly place: string }[] = [];
  let timer: NodeJS.Timeout | null = null;
  let emptied: Promise<void> | null = null;
  let isMovable = true;

  async function empty(): Promise<void> {
    await removeTree(folder);
    await mkdir(folder, { recursive: true, mode: 0o700 });
  }

  async function makeOne(): Promise<void> {
    emptied ??= empty();
    await emptied;
    const source = await template();
    const place = path.join(folder, randomUUID());
    await mkdir(place);
    try {
      await copyTemplate(source, place);
    } catch (error) {
      await removeTree(place);
      throw error;
    }
    ready = [...ready, { of: source.folder, place }];
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
      if (found === undefined || found.of !== wanted.folder) return false;
      ready = others;
      makeSoon(pauseMilliseconds);
      try {
        await rename(found.place, release);
        return true;
      } catch {
        // The environments lie on another file system.
        isMovable = false;
        await removeTree(found.place);
        return false;
      }
    },
  };
}
