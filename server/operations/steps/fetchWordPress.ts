/** Downloads, unpacks and checks a version of WordPress. Does not touch a site. */
import { readdir, readFile, stat } from "node:fs/promises";
import path from "node:path";
import { isOwnerFile } from "@sitewright/runtimes/wordpressFiles.ts";
import { SourceFailure } from "../../packages/request.ts";
import type { PackageSource } from "../../packages/source.ts";
import { compareVersions } from "../../packages/versions.ts";
import { BadZip, unpackZip } from "../../packages/zip.ts";
import { StepFailure } from "../engine/operation.ts";
import { download } from "./fetchPackage.ts";

interface WordPressRequest {
  readonly from: string;
  readonly to: string;
  /** The environment's PHP version, to check against the requirement of WordPress. */
  readonly phpVersion: string;
}

/** The folder in the zip. */
const root = "wordpress";
const requiredFiles = ["wp-admin/upgrade.php", "wp-includes/version.php", "wp-load.php", "wp-login.php", "index.php"];

/** Returns the folder that `fetchWordPress` unpacks into. */
export const wordPressFolder = (folder: string): string => path.join(folder, root);

/**
 * Unpacks into the existing empty `folder`. Rejects with `StepFailure` if the source fails or the package is invalid.
 */
export async function fetchWordPress(
  source: PackageSource,
  request: WordPressRequest,
  folder: string,
  signal: AbortSignal,
): Promise<void> {
  const { from, to: version } = request;
  const unpacked = wordPressFolder(folder);
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
  await check(unpacked, request);
}

async function check(folder: string, { to, phpVersion }: WordPressRequest): Promise<void> {
  const refuse = (sentence: string) => {
    throw new StepFailure(`WordPress ${to}: The package is refused: ${sentence}.`);
  };
  for (const name of requiredFiles) {
    const facts = await stat(path.join(folder, name)).catch(() => null);
    if (!facts?.isFile()) refuse(`it has no ${name}`);
  }
  const own = (await readdir(folder)).find(isOwnerFile);
  if (own !== undefined) refuse(`it contains ${JSON.stringify(own.slice(0, 100))}, which belongs to the site`);
  const text = await readFile(path.join(folder, "wp-includes/version.php"), "utf8");
  const found = /^\s*\$wp_version\s*=\s*'([^']{1,60})'/m.exec(text)?.[1];
  if (found !== to) refuse(found === undefined ? "it has no version" : `it is version ${found}`);
  const php = /^\s*\$required_php_version\s*=\s*'([^']{1,60})'/m.exec(text)?.[1] ?? "0";
  // An environment's version has only two numbers and stands for the newest patch release.
  if (compareVersions(`${phpVersion}.999`, php) < 0)
    refuse(`it needs PHP ${php}, but the environment has ${phpVersion}`);
}
