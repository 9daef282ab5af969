/**
 * Files with redirect rules for the edge: `edge/redirects/<list>.json` in the data folder. They are written before a table
 * names them, and never changed: a changed list gets a new name.
 */
import { mkdir, readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { ruleFile } from "@sitewright/edge/redirects/readRules.ts";
import { writeDurableFile } from "../durableFile.ts";
import type { Database } from "../store/database.ts";
import { findRuleList, forEdge, namesOfRuleLists } from "../store/traffic/redirectRules.ts";

interface RedirectFiles {
  /** Writes an environment's list unless its file exists. Returns the name of the list on disk, or null if there is none. */
  write(environmentId: string, list: string | null): Promise<string | null>;
  /** Removes lists that are neither in `named` nor in the database. */
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
      // The list may have changed in the meantime: the newer one is as good.
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
      // Another process may be about to publish one: lists are inserted into the database before their files are written.
      const current = new Set(await namesOfRuleLists(database));
      for (const file of others.filter((name) => !current.has(listOf(name))))
        await rm(join(folder, file), { force: true });
    },
  };
}

/** Temporary files have a suffix after the list's name. */
function listOf(file: string): string {
  return file.split(".")[0] ?? file;
}
