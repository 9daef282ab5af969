/**
 * Redirect rules in files that the edge reads: `edge/redirects/<list>.json` of the data folder. They are there before a table
 * names them, and written once: another list has another name.
 */
import { mkdir, readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { ruleFile } from "@sitewright/edge/redirects/readRules.ts";
import { writeDurableFile } from "../durableFile.ts";
import type { Database } from "../store/database.ts";
import { findRuleList, forEdge, namesOfRuleLists } from "../store/traffic/redirectRules.ts";

export interface RedirectFiles {
  /** Writes the list of an environment where it is absent. Returns the name of the list that is there; null: none. */
  write(environmentId: string, list: string | null): Promise<string | null>;
  /** Removes the lists that are neither named nor in the database. */
  removeOthers(named: readonly string[]): Promise<void>;
}

export function redirectFolder(dataFolder: string): string {
  return join(dataFolder, "edge", "redirects");
}

export function makeRedirectFiles(options: {
  readonly database: Database;
  readonly dataFolder: string;
}): RedirectFiles {
  const { database } = options;
  const folder = redirectFolder(options.dataFolder);
  let known: ReadonlySet<string> | null = null;

  async function listed(): Promise<ReadonlySet<string>> {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    return new Set(await readdir(folder));
  }

  return {
    write: async (environmentId, list) => {
      if (list === null) return null;
      known ??= await listed();
      if (known.has(`${list}.json`)) return list;
      // It may have been changed meanwhile: the newer one is as good.
      const found = await findRuleList(database, environmentId);
      if (found === null) return null;
      await mkdir(folder, { recursive: true, mode: 0o700 });
      await writeDurableFile(ruleFile(folder, found.list), JSON.stringify(found.rules.map(forEdge)));
      known = null;
      return found.list;
    },
    removeOthers: async (named) => {
      known = null;
      const kept = new Set(named);
      const others = [...(await listed())].filter((file) => !kept.has(listOf(file)));
      if (others.length === 0) return;
      // Another process may be about to name it: it was in the database before its file was there.
      const there = new Set(await namesOfRuleLists(database));
      for (const file of others.filter((name) => !there.has(listOf(name))))
        await rm(join(folder, file), { force: true });
    },
  };
}

/** A file that is being written has the list's name and more. */
function listOf(file: string): string {
  return file.split(".")[0] ?? file;
}
