/**
 * The fake's plugins and themes: real files, and option rows that list the active ones, as `active_plugins: one.php
 * two/two.php`.
 */
import { type PackageStates, readPackageFiles, withStates } from "../packageFiles.ts";
import { partOf, type Release } from "../releases.ts";
import type { InstalledPackages } from "../runtime.ts";
import { readTables } from "./database.ts";
import { specOf } from "./release.ts";

function isOption(row: unknown): row is { readonly option_name: string; readonly option_value: string } {
  return typeof row === "object" && row !== null && "option_name" in row && "option_value" in row;
}

/** Returns null if there is no WordPress. */
export async function packagesOf(release: Release | null): Promise<InstalledPackages | null> {
  if (release === null || (await specOf(release)).wordpress === null) return null;
  const rows = (await readTables(await partOf(release, "database"))).wp_options ?? [];
  const wordsOf = (name: string) =>
    new Set(rows.filter(isOption).flatMap((row) => (row.option_name === name ? row.option_value.split(" ") : [])));
  const states: PackageStates = {
    activePlugins: wordsOf("active_plugins"),
    activeThemes: wordsOf("stylesheet"),
    autoUpdated: { plugin: wordsOf("auto_update_plugins"), theme: wordsOf("auto_update_themes") },
  };
  return { packages: withStates(await readPackageFiles(await partOf(release, "public")), states), problem: null };
}
