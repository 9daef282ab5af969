/**
 * Asks npm for the tarball's URL, and for the user's proxy, certificates and cache. Runs npm as a program, so that all
 * the user's settings apply.
 */
import { execFile } from "node:child_process";
import { readFile, stat } from "node:fs/promises";
import path from "node:path";
import { promisify } from "node:util";
import type { AssetPackage } from "./package.ts";

const run = promisify(execFile);

export interface TarballAddress {
  readonly url: string;
  /** Certificates to trust instead of Node's own, PEM. */
  readonly certificates: string | undefined;
  readonly proxy: Readonly<Record<string, string>>;
}

async function npm(...args: readonly string[]): Promise<string> {
  const { stdout } = await run("npm", [...args], { maxBuffer: 64 << 20, timeout: 120_000 });
  return stdout.trim();
}

/** Reads one setting. Empty if it is unset (npm prints `null` or `undefined`). */
async function setting(name: string): Promise<string> {
  const value = await npm("config", "get", name).catch(() => "");
  return value === "null" || value === "undefined" ? "" : value;
}

export async function findTarball(wanted: AssetPackage): Promise<TarballAddress> {
  const url = await npm("view", `${wanted.name}@${wanted.version}`, "dist.tarball");
  const [cafile, httpsProxy, proxy, noproxy] = await Promise.all(
    ["cafile", "https-proxy", "proxy", "noproxy"].map(setting),
  );
  const named = Object.entries({ HTTPS_PROXY: httpsProxy || proxy, HTTP_PROXY: proxy, NO_PROXY: noproxy });
  return {
    url,
    certificates: cafile ? await readFile(cafile, "utf8") : undefined,
    proxy: Object.fromEntries(named.flatMap(([name, value]) => (value ? [[name, value]] : []))),
  };
}

/**
 * Finds the tarball in npm's cache, which stores content by hash, or null. The caller verifies it, so that a damaged
 * cache, or one with another layout, only costs a download.
 */
export async function findCachedTarball(wanted: AssetPackage): Promise<string | null> {
  const hash = Buffer.from(wanted.integrity.replace("sha512-", ""), "base64").toString("hex");
  const cache = await setting("cache");
  if (cache === "") return null;
  const file = path.join(cache, "_cacache", "content-v2", "sha512", hash.slice(0, 2), hash.slice(2, 4), hash.slice(4));
  return stat(file).then(
    () => file,
    () => null,
  );
}

/**
 * Lets npm download the tarball into `folder` if the plain download was refused: npm also has the user's credentials.
 */
export async function packTarball(wanted: AssetPackage, folder: string): Promise<string> {
  await npm("pack", `${wanted.name}@${wanted.version}`, "--silent", "--ignore-scripts", "--pack-destination", folder);
  return path.join(folder, `${wanted.name}-${wanted.version}.tgz`);
}
