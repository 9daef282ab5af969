/**
 * What only npm knows: where a package's tarball is, and by which proxy, certificates and cache this user
 * reaches it. npm is asked as a program, so that every setting of the user counts.
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

/** One setting; empty if it is unset (npm prints `null` or `undefined`). */
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
 * The tarball in npm's cache, which files content under its hash; null if it is not. Whoever takes it
 * verifies it like any other copy, so that a cache with another layout or a damaged one costs a download only.
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

/** Lets npm itself download, where the plain download was refused: it also knows how to log in. Puts the tarball into `folder`. */
export async function packTarball(wanted: AssetPackage, folder: string): Promise<string> {
  await npm("pack", `${wanted.name}@${wanted.version}`, "--silent", "--ignore-scripts", "--pack-destination", folder);
  return path.join(folder, `${wanted.name}-${wanted.version}.tgz`);
}
