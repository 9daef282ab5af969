/** Client of WordPress.org, or a mirror of it, with the same API calls that WordPress makes. */
import { entriesOf, fieldOf } from "@sitewright/runtimes/fields.ts";
import type { PackageKind } from "@sitewright/runtimes/runtime.ts";
import * as v from "valibot";
import { askJson } from "./request.ts";

/** The newest version of a package. */
export interface Offer {
  /** The source's slug. */
  readonly slug: string;
  readonly version: string;
  /** Minimum versions of PHP and WordPress, or null for any. */
  readonly php: string | null;
  readonly wordpress: string | null;
}

export interface OfferedVersion {
  readonly version: string;
  /** URL of the zip. */
  readonly url: URL;
}

export interface OfferedPackage {
  readonly slug: string;
  /** The version that the source recommends, or null. */
  readonly newest: string | null;
  /** Unordered. */
  readonly versions: readonly OfferedVersion[];
}

export interface PackageSource {
  readonly url: URL;
  /** Newest versions by file, as WordPress names it. Unknown files are missing. Rejects with `SourceFailure`. */
  newest(kind: PackageKind, files: readonly string[], signal: AbortSignal): Promise<ReadonlyMap<string, Offer>>;
  /** Returns null if there is no such package. Rejects with `SourceFailure`. */
  find(kind: PackageKind, slug: string, signal: AbortSignal): Promise<OfferedPackage | null>;
  /** Versions to which WordPress `installed` can be updated, unordered. Rejects with `SourceFailure`. */
  cores(installed: string, signal: AbortSignal): Promise<readonly OfferedVersion[]>;
}

const seconds = 30;
const packagesPerRequest = 100;
const maxVersions = 5_000;
const maxVersionLength = 60;
const maxSlugLength = 200;

/** `false` or an empty string in the API if there is none. */
const requirement = v.fallback(v.nullable(v.pipe(v.string(), v.maxLength(maxVersionLength))), null);
const versionText = v.pipe(v.string(), v.minLength(1), v.maxLength(maxVersionLength));
const slugText = v.pipe(
  v.string(),
  v.minLength(1),
  v.maxLength(maxSlugLength),
  v.regex(/^[^/\\\0]+$/),
  v.notValue("."),
  v.notValue(".."),
);

const newestOf = {
  plugin: v.object({ slug: slugText, new_version: versionText, requires: requirement, requires_php: requirement }),
  theme: v.object({ theme: slugText, new_version: versionText, requires: requirement, requires_php: requirement }),
} as const;

function offerOf(kind: PackageKind, value: unknown): Offer | null {
  if (kind === "plugin") {
    const read = v.safeParse(newestOf.plugin, value);
    return read.success ? offer(read.output.slug, read.output) : null;
  }
  const read = v.safeParse(newestOf.theme, value);
  return read.success ? offer(read.output.theme, read.output) : null;
}

function offer(
  slug: string,
  read: { readonly new_version: string; readonly requires: string | null; readonly requires_php: string | null },
): Offer {
  return { slug, version: read.new_version, php: read.requires_php || null, wordpress: read.requires || null };
}

/** Asks as if version 0 were installed, so that the response always has the newest version. */
function updateCheckForm(kind: PackageKind, files: readonly string[]): Readonly<Record<string, string>> {
  const zero = { Name: "", Version: "0" };
  const list = Object.fromEntries(
    files.map((file) => [file, kind === "plugin" ? zero : { ...zero, Stylesheet: file, Template: file }]),
  );
  const installed = { [`${kind}s`]: list, active: kind === "plugin" ? [] : "" };
  return { [`${kind}s`]: JSON.stringify(installed), translations: "{}", locale: "[]", all: "true" };
}

/** `url` is the base URL of the API. */
export function openPackageSource(url: string): PackageSource {
  const source = new URL(url.endsWith("/") ? url : `${url}/`);
  const at = (path: string) => new URL(path, source);

  async function checkUpdates(kind: PackageKind, files: readonly string[], signal: AbortSignal) {
    const address = at(`${kind}s/update-check/1.1/`);
    const answer = await askJson(address, { form: updateCheckForm(kind, files), source, seconds, signal });
    const all = [...entriesOf(fieldOf(answer, `${kind}s`)), ...entriesOf(fieldOf(answer, "no_update"))];
    return all.flatMap(([file, value]) => {
      const found = files.includes(file) ? offerOf(kind, value) : null;
      return found === null ? [] : [[file, found] as const];
    });
  }

  return {
    url: source,
    newest: async (kind, files, signal) => {
      const found = new Map<string, Offer>();
      for (let done = 0; done < files.length; done += packagesPerRequest) {
        for (const [file, one] of await checkUpdates(kind, files.slice(done, done + packagesPerRequest), signal))
          found.set(file, one);
      }
      return found;
    },
    find: async (kind, slug, signal) => {
      const address = at(`${kind}s/info/1.2/`);
      address.search = new URLSearchParams({
        action: `${kind}_information`,
        "request[slug]": slug,
        "request[fields][versions]": "1",
      }).toString();
      const answer = await askJson(address, { source, seconds, signal });
      const own = fieldOf(answer, "slug");
      if (own !== slug) return null;
      const newest = [fieldOf(answer, "version"), fieldOf(answer, "download_link")] as const;
      const named = [...entriesOf(fieldOf(answer, "versions")).slice(0, maxVersions), newest];
      return {
        slug,
        newest: v.is(versionText, newest[0]) ? newest[0] : null,
        versions: named.flatMap(([version, link]) => versionOf(version, link, address)),
      };
    },
    cores: async (installed, signal) => {
      const address = at("core/version-check/1.7/");
      address.search = new URLSearchParams({ version: installed, locale: "en_US" }).toString();
      const answer = await askJson(address, { source, seconds, signal });
      const offers = entriesOf(fieldOf(answer, "offers")).slice(0, maxVersions);
      return offers.flatMap(([, offer]) => versionOf(fieldOf(offer, "version"), coreZipOf(offer), address));
    },
  };
}

/** URL of the full English zip. Sites fetch translations themselves. */
function coreZipOf(offer: unknown): unknown {
  return fieldOf(fieldOf(offer, "packages"), "full") ?? fieldOf(offer, "download");
}

function versionOf(version: unknown, link: unknown, base: URL): readonly OfferedVersion[] {
  if (!v.is(versionText, version) || version === "trunk" || typeof link !== "string" || link === "") return [];
  if (!URL.canParse(link, base.href)) return [];
  const url = new URL(link, base);
  return ["http:", "https:"].includes(url.protocol) ? [{ version, url }] : [];
}
