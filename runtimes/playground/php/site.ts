/**
 * Mounts an environment for PHP: its own files, WordPress's shared code (if any) on top, and its database next to them.
 */
import { mkdirSync } from "node:fs";
import path from "node:path";
import type { PHP } from "@php-wasm/universal";
import { databaseFolder, sessionFolder, siteFolder, temporaryFolder } from "../../phpFolders.ts";
import { sharedFolders } from "../../site/sharedCode.ts";
import { driverPlace } from "../../sqlite/driver.ts";
import { type Guards, mountFolder, unguarded } from "./mounts.ts";

/** Host folders with code that all sites with WordPress share. */
export interface SharedCodeFolders {
  /** Contains `sharedFolders`. */
  readonly core: string;
  /** The database driver (`sqlite/driver.ts`). */
  readonly driver: string;
}

export interface SiteFolders {
  /** Host folders; relative ones are relative to the process's working directory. */
  readonly documentRoot: string;
  /** Null if there is no WordPress. */
  readonly shared: SharedCodeFolders | null;
  readonly database: string;
  readonly sessions: string;
  /** Created if missing. All processes of the environment see the same files in it, and so the same locks. */
  readonly temporary: string;
}

/** Mounts an environment. Returns the unmount function. If that fails, the worker can't be used any longer. */
export async function mountSite(
  php: PHP,
  folders: SiteFolders,
  guards: Guards = unguarded,
): Promise<() => Promise<void>> {
  mkdirSync(folders.temporary, { recursive: true });
  const own = [
    await mountFolder(php, siteFolder, folders.documentRoot, "files", guards),
    await mountFolder(php, databaseFolder, folders.database, "database", {
      ...guards,
      writes: guards.databaseWrites ?? guards.writes,
    }),
    await mountFolder(php, sessionFolder, folders.sessions, "unprotected", { ...guards, writes: null }),
    await mountFolder(php, temporaryFolder, folders.temporary, "unprotected", { ...guards, writes: null }),
  ];
  const shared = folders.shared === null ? [] : await mountShared(php, folders.shared);
  return async () => {
    for (const unmount of [...shared, ...own]) await unmount();
  };
}

/** Mounts the shared code. The driver hides the copy that sites from earlier versions of Sitewright have. */
async function mountShared(php: PHP, { core, driver }: SharedCodeFolders): Promise<readonly (() => Promise<void>)[]> {
  const mounts: (() => Promise<void>)[] = [];
  for (const name of sharedFolders) {
    mounts.push(await mountFolder(php, `${siteFolder}/${name}`, path.join(core, name), "readOnly"));
  }
  mounts.push(await mountFolder(php, `${siteFolder}/${driverPlace}`, driver, "readOnly"));
  return mounts;
}

/** Mounts a template read-only instead of an environment. Returns the unmount function. */
export async function mountTemplate(
  php: PHP,
  { template, ...folders }: SharedCodeFolders & { readonly template: string },
): Promise<() => Promise<void>> {
  const unmountSite = await mountFolder(php, siteFolder, path.join(template, "public"), "readOnly");
  const shared = await mountShared(php, folders);
  return async () => {
    for (const unmount of [...shared, unmountSite]) await unmount();
  };
}
