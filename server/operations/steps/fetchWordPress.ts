/** A version of WordPress from the package source, unpacked into a folder and looked at before anything of a site is touched. */
import { readdir, readFile, stat } from "node:fs/promises";
import path from "node:path";
import { isSitesOwn } from "@sitewright/runtimes/wordpressFiles.ts";
import { SourceFailure } from "../../packages/request.ts";
import type { PackageSource } from "../../packages/source.ts";
import { compareVersions } from "../../packages/versions.ts";
import { BadZip, unpackZip } from "../../packages/zip.ts";
import { StepFailure } from "../engine/operation.ts";
import { download } from "./fetchPackage.ts";

export interface WordPressWish {
  readonly from: string;
  readonly to: string;
  /** That the environment has: WordPress says itself what it needs. */
  readonly phpVersion: string;
}

/** The folder in the zip. */
const root = "wordpress";
const needed = ["wp-admin/upgrade.php", "wp-includes/version.php", "wp-load.php", "wp-login.php", "index.php"];

/** Where `fetchWordPress` puts it. */
export const wordPressIn = (folder: string): string => path.join(folder, root);

/** Rejects with `StepFailure` that says what is wrong with the source, or with what it gave. `folder` is there, and empty. */
export async function fetchWordPress(
  source: PackageSource,
  wish: WordPressWish,
  folder: string,
  signal: AbortSignal,
): Promise<void> {
  const { from, to: version } = wish;
  const unpacked = wordPressIn(folder);
  const zip = `${unpacked}.zip`;
  try {
    const offers = await source.cores(from, signal);
    const offered = offers.find((one) => one.version === version);
    if (offered === undefined) throw new SourceFailure("The package source does not offer it.");
    await download(source, offered.url, zip, signal);
    await unpackZip(zip, root, unpacked, signal);
  } catch (cause) {
    if (!(cause instanceof SourceFailure || cause instanceof BadZip)) throw cause;
    throw new StepFailure(`WordPress ${version}: ${cause.message}`, { cause });
  }
  await check(unpacked, wish);
}

async function check(folder: string, { to, phpVersion }: WordPressWish): Promise<void> {
  const refuse = (sentence: string) => {
    throw new StepFailure(`WordPress ${to}: The package is refused: ${sentence}.`);
  };
  for (const name of needed) {
    const facts = await stat(path.join(folder, name)).catch(() => null);
    if (!facts?.isFile()) refuse(`it has no ${name}`);
  }
  const own = (await readdir(folder)).find(isSitesOwn);
  if (own !== undefined) refuse(`${JSON.stringify(own.slice(0, 100))} is for the site's owner to make`);
  const text = await readFile(path.join(folder, "wp-includes/version.php"), "utf8");
  const said = /^\s*\$wp_version\s*=\s*'([^']{1,60})'/m.exec(text)?.[1] ?? "none";
  if (said !== to) refuse(`it says that it is version ${said}`);
  const php = /^\s*\$required_php_version\s*=\s*'([^']{1,60})'/m.exec(text)?.[1] ?? "0";
  // An environment names the first two numbers only; it has the newest of these.
  if (compareVersions(`${phpVersion}.999`, php) < 0)
    refuse(`it needs PHP ${php}, and the environment has ${phpVersion}`);
}
