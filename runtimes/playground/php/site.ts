/** An environment as PHP sees it: its own files, WordPress's shared code (if any) above them, its database beside them. */
import path from "node:path";
import type { PHP } from "@php-wasm/universal";
import { databaseFolder, sessionFolder, siteFolder } from "./folders.ts";
import { type Guards, mountFolder, unguarded } from "./mounts.ts";

/** First folders of the web root that are the same for every environment, and come from the asset store. */
export const sharedFolders = ["wp-admin", "wp-includes"] as const;

export interface SiteFolders {
  /** Host folders; relative ones are relative to the process's working directory. */
  readonly documentRoot: string;
  /** Null if there is no WordPress. */
  readonly core: string | null;
  readonly database: string;
  readonly sessions: string;
}

/** Returns the unmounting. A worker that can't unmount is of no use any more. */
export async function mountSite(
  php: PHP,
  folders: SiteFolders,
  guards: Guards = unguarded,
): Promise<() => Promise<void>> {
  const own = [
    await mountFolder(php, siteFolder, folders.documentRoot, "files", guards),
    await mountFolder(php, databaseFolder, folders.database, "database", guards),
    await mountFolder(php, sessionFolder, folders.sessions, "own", { ...guards, writes: null }),
  ];
  const shared = folders.core === null ? [] : await mountShared(php, folders.core);
  return async () => {
    for (const unmount of [...shared, ...own]) await unmount();
  };
}

async function mountShared(php: PHP, core: string): Promise<readonly (() => Promise<void>)[]> {
  const mounts: (() => Promise<void>)[] = [];
  for (const name of sharedFolders) {
    mounts.push(await mountFolder(php, `${siteFolder}/${name}`, path.join(core, name), "readOnly"));
  }
  return mounts;
}

/** A template in place of an environment, and nothing of it can be changed. Returns the unmounting. */
export async function mountTemplate(
  php: PHP,
  { template, core }: { readonly template: string; readonly core: string },
): Promise<() => Promise<void>> {
  const unmountSite = await mountFolder(php, siteFolder, path.join(template, "public"), "readOnly");
  const shared = await mountShared(php, core);
  return async () => {
    for (const unmount of [...shared, unmountSite]) await unmount();
  };
}

/** What every script finds in `$_SERVER`, whatever the request. */
export function serverVariables(script: string, pathInfo: string): Record<string, string> {
  return {
    DOCUMENT_ROOT: siteFolder,
    SCRIPT_FILENAME: `${siteFolder}${script}`,
    SCRIPT_NAME: script,
    PHP_SELF: `${script}${pathInfo}`,
    SERVER_SOFTWARE: "Sitewright",
    GATEWAY_INTERFACE: "CGI/1.1",
    ...(pathInfo === "" ? {} : { PATH_INFO: pathInfo }),
  };
}
