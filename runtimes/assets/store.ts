/**
 * The asset store: WordPress and its companions, unpacked once and shared by all environments.
 *
 * A folder is complete exactly if it contains the manifest: everything is unpacked to a temporary folder and flushed to
 * disk, then the folder is renamed. Without a manifest, unpacking starts again; the download itself resumes.
 */
import { mkdir, readdir, readFile, rename, writeFile } from "node:fs/promises";
import path from "node:path";
import { removeTree, syncFolder } from "../folders.ts";
import { type Progress, RuntimeFailure } from "../runtime.ts";
import { fetchTarball, npmSource, type TarballSource } from "./fetch.ts";
import { withLock } from "./lock.ts";
import { filesFolder, type Manifest, manifestFile, readManifest } from "./manifest.ts";
import { type AssetPackage, assetPackage } from "./package.ts";
import { unpack } from "./unpack.ts";

export interface AssetFiles {
  /** WordPress as published: root files, `wp-admin`, `wp-includes`, `wp-content`. */
  readonly core: string;
  readonly languages: string;
  readonly sqliteDriver: string;
  readonly wpCli: string;
  readonly wordpressVersion: string;
  /** Ascending, `en_US` among them. */
  readonly locales: readonly string[];
}

export interface AssetStore {
  readonly folder: string;
  /**
   * Downloads and unpacks the files. Idempotent, and safe in several processes at once. Rejects with `RuntimeFailure`
   * that says what to do next.
   */
  prepare(progress: Progress): Promise<AssetFiles>;
  /** Returns the files. Rejects if `prepare` has never succeeded. */
  files(): Promise<AssetFiles>;
}

async function describe(folder: string): Promise<Manifest> {
  const source = await readFile(path.join(folder, "core/wp-includes/version.php"), "utf8").catch(() => "");
  const wordpressVersion = /\$wp_version = '([^']+)'/.exec(source)?.[1] ?? "unknown";
  const names = await readdir(path.join(folder, "languages")).catch(() => []);
  const locales = names.flatMap((name) => /^([a-z]{2,3}(?:_[A-Z]{2})?)\.l10n\.php$/.exec(name)?.slice(1) ?? []);
  return { wordpressVersion, locales: ["en_US", ...locales].toSorted() };
}

/** Creates an asset store. `wanted` and `source` are for tests, which use a small package. */
export function createAssetStore(options: {
  readonly folder: string;
  readonly wanted?: AssetPackage;
  readonly source?: TarballSource;
}): AssetStore {
  const { folder, wanted = assetPackage, source = npmSource } = options;
  const root = filesFolder(folder, wanted);
  let known: AssetFiles | null = null;

  async function lookUp(): Promise<AssetFiles | null> {
    const manifest = known === null ? readManifest(root) : null;
    if (manifest !== null) {
      known = {
        ...manifest,
        core: path.join(root, "core"),
        languages: path.join(root, "languages"),
        sqliteDriver: path.join(root, "sqlite-database-integration"),
        wpCli: path.join(root, "wp-cli.phar"),
      };
    }
    return known;
  }

  async function build(progress: Progress): Promise<void> {
    const temporary = `${root}.new`;
    await removeTree(temporary);
    const tarball = await fetchTarball(wanted, path.join(folder, "downloads"), source, progress);
    await mkdir(temporary, { recursive: true });
    await unpack(tarball, wanted.parts, temporary, (done) =>
      progress({ phase: "Unpacking WordPress", done, total: null }),
    );
    const manifest = await describe(temporary);
    await writeFile(manifestFile(temporary), JSON.stringify(manifest), { flush: true });
    await syncFolder(temporary);
    await removeTree(root);
    await rename(temporary, root);
    await syncFolder(folder);
  }

  async function prepare(progress: Progress): Promise<AssetFiles> {
    const files = await lookUp();
    if (files !== null) return files;
    await mkdir(folder, { recursive: true });
    const waiting = () => progress({ phase: "Waiting for another process to unpack WordPress", done: 0, total: null });
    return withLock(
      path.join(folder, "prepare.lock"),
      async () => {
        if (readManifest(root) === null) await build(progress);
        return filesOrThrow();
      },
      waiting,
    );
  }

  async function filesOrThrow(): Promise<AssetFiles> {
    const files = await lookUp();
    if (files === null) throw new RuntimeFailure("WordPress has not been unpacked yet. Start Sitewright again.");
    return files;
  }

  return { folder, prepare, files: filesOrThrow };
}
