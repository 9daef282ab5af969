/** A version of a plugin or a theme, from the package source into a folder: looked through before anything of the site is touched. */
import { createWriteStream } from "node:fs";
import { mkdir, readFile } from "node:fs/promises";
import path from "node:path";
import { pipeline } from "node:stream/promises";
import { headerBytes, headerField } from "@sitewright/runtimes/packageFiles.ts";
import type { PackageKind } from "@sitewright/runtimes/runtime.ts";
import { ask, SourceFailure } from "../../packages/request.ts";
import type { PackageSource } from "../../packages/source.ts";
import { BadZip, unpackZip } from "../../packages/zip.ts";
import { StepFailure } from "../engine/operation.ts";

export interface PackageWish {
  readonly kind: PackageKind;
  /** Of the folder that it has in a site. */
  readonly name: string;
  /** As the source calls it. */
  readonly slug: string;
  /** As WordPress names it. */
  readonly file: string;
  readonly version: string;
}

const downloadSeconds = 600;
/** No plugin's or theme's zip is larger. */
const mostZipBytes = 500_000_000;

/**
 * Puts it into `<folder>/<name>`, both new. Rejects with `StepFailure` that says what is wrong with the source, or with what it
 * gave.
 */
export async function fetchPackage(
  source: PackageSource,
  wish: PackageWish,
  folder: string,
  signal: AbortSignal,
): Promise<string> {
  const unpacked = path.join(folder, wish.name);
  const zip = `${unpacked}.zip`;
  try {
    await download(source, await findVersion(source, wish, signal), zip, signal);
    await unpackZip(zip, wish.name, unpacked, signal);
  } catch (cause) {
    if (!(cause instanceof SourceFailure || cause instanceof BadZip)) throw cause;
    throw new StepFailure(`${wish.name} ${wish.version}: ${cause.message}`, {
      cause,
      kind: cause instanceof BadZip ? "refused" : null,
    });
  }
  await checkVersion(wish, unpacked);
  return unpacked;
}

async function findVersion(
  source: PackageSource,
  { kind, slug, version }: PackageWish,
  signal: AbortSignal,
): Promise<URL> {
  const found = await source.find(kind, slug, signal);
  const offered = found?.versions.find((one) => one.version === version);
  if (offered !== undefined) return offered.url;
  throw new SourceFailure(`The package source does not offer it.`);
}

/** Puts a zip that the source has named into a new file. Rejects with `SourceFailure`, or `BadZip` where it is too large. */
export async function download(source: PackageSource, url: URL, file: string, signal: AbortSignal): Promise<void> {
  const tooLarge = `The zip is larger than ${mostZipBytes / 1e6} MB.`;
  const { status, body, bytes } = await ask(url, { source: source.url, seconds: downloadSeconds, signal });
  if (status !== 200) throw new SourceFailure(`The package source answers with the status ${status}.`);
  if (bytes !== null && bytes > mostZipBytes) throw new BadZip(tooLarge);
  async function* counted(): AsyncGenerator<Buffer> {
    let read = 0;
    for await (const chunk of body) {
      read += chunk.length;
      if (read > mostZipBytes) throw new BadZip(tooLarge);
      yield chunk;
    }
  }
  await mkdir(path.dirname(file), { recursive: true, mode: 0o700 });
  await pipeline(counted(), createWriteStream(file, { mode: 0o600 }), { signal });
}

/** A package that contains another version than its name says is refused. */
async function checkVersion({ kind, name, file, version }: PackageWish, folder: string): Promise<void> {
  const refuse = (sentence: string) => {
    throw new StepFailure(`${name} ${version}: The package is refused: ${sentence}.`, { kind: "refused" });
  };
  const first = kind === "theme" ? "style.css" : path.posix.relative(name, file);
  const bytes = await readFile(path.join(folder, first)).catch(() => null);
  const text = bytes?.subarray(0, headerBytes).toString("utf8").replaceAll("\r", "\n") ?? "";
  if (headerField(text, kind === "theme" ? "Theme Name" : "Plugin Name") === "") {
    refuse(`its ${first} does not say that it is a ${kind}`);
  }
  const said = headerField(text, "Version");
  if (said === version) return;
  refuse(`it says that it is version ${said.slice(0, 60) || "none"}`);
}
