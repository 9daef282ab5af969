/** Downloads, unpacks and checks a version of a plugin or theme. Does not touch the site. */
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

interface PackageRequest {
  readonly kind: PackageKind;
  /** Name of its folder in a site. */
  readonly name: string;
  /** Its name in the package source. */
  readonly slug: string;
  /** Its main file, as WordPress identifies it: `shop/shop.php`. */
  readonly file: string;
  readonly version: string;
}

const downloadSeconds = 600;
/** Far larger than any real zip of a plugin or theme. */
const maxZipBytes = 500_000_000;

/**
 * Unpacks the package into `<folder>/<name>` and returns that path. Rejects with `StepFailure` if the source fails or
 * the package is invalid.
 */
export async function fetchPackage(
  source: PackageSource,
  request: PackageRequest,
  folder: string,
  signal: AbortSignal,
): Promise<string> {
  const unpacked = path.join(folder, request.name);
  const zip = `${unpacked}.zip`;
  try {
    await download(source, await findVersion(source, request, signal), zip, signal);
    await unpackZip(zip, request.name, unpacked, signal);
  } catch (cause) {
    if (!(cause instanceof SourceFailure || cause instanceof BadZip)) throw cause;
    throw new StepFailure(`${request.name} ${request.version}: ${cause.message}`, {
      cause,
      kind: cause instanceof BadZip ? "refused" : null,
    });
  }
  await checkVersion(request, unpacked);
  return unpacked;
}

async function findVersion(
  source: PackageSource,
  { kind, slug, version }: PackageRequest,
  signal: AbortSignal,
): Promise<URL> {
  const found = await source.find(kind, slug, signal);
  const offered = found?.versions.find((one) => one.version === version);
  if (offered !== undefined) return offered.url;
  throw new SourceFailure(`The package source does not offer it.`);
}

/**
 * Downloads a zip from the source into a new file. Rejects with `SourceFailure`, or with `BadZip` if it is too large.
 */
export async function download(source: PackageSource, url: URL, file: string, signal: AbortSignal): Promise<void> {
  const tooLarge = `The zip is larger than ${maxZipBytes / 1e6} MB.`;
  const { status, body, bytes } = await ask(url, { source: source.url, seconds: downloadSeconds, signal });
  if (status !== 200) throw new SourceFailure(`The package source answers with the status ${status}.`);
  if (bytes !== null && bytes > maxZipBytes) throw new BadZip(tooLarge);
  async function* counted(): AsyncGenerator<Buffer> {
    let read = 0;
    for await (const chunk of body) {
      read += chunk.length;
      if (read > maxZipBytes) throw new BadZip(tooLarge);
      yield chunk;
    }
  }
  await mkdir(path.dirname(file), { recursive: true, mode: 0o700 });
  await pipeline(counted(), createWriteStream(file, { mode: 0o600 }), { signal });
}

/** Throws `StepFailure` if the package's header has a different version, or no name. */
async function checkVersion({ kind, name, file, version }: PackageRequest, folder: string): Promise<void> {
  const refuse = (sentence: string) => {
    throw new StepFailure(`${name} ${version}: The package is refused: ${sentence}.`, { kind: "refused" });
  };
  const first = kind === "theme" ? "style.css" : path.posix.relative(name, file);
  const bytes = await readFile(path.join(folder, first)).catch(() => null);
  const text = bytes?.subarray(0, headerBytes).toString("utf8").replaceAll("\r", "\n") ?? "";
  if (headerField(text, kind === "theme" ? "Theme Name" : "Plugin Name") === "") {
    refuse(`its ${first} has no ${kind} header`);
  }
  const found = headerField(text, "Version");
  if (found === version) return;
  refuse(found === "" ? "it has no version" : `it is version ${found.slice(0, 60)}`);
}
