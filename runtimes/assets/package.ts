/**
 * The npm package that contains WordPress, its languages, WP-CLI and the SQLite driver, pinned by hash. It is never
 * installed as a dependency: only its tarball is fetched, and only these folders are unpacked.
 */
export interface AssetPackage {
  readonly name: string;
  readonly version: string;
  /** Subresource integrity of the tarball, `sha512-…`. */
  readonly integrity: string;
  /** Folder or file inside the tarball → its path in the asset store. */
  readonly parts: Readonly<Record<string, string>>;
}

const files = "package/dist/cli/wp-files";

export const assetPackage: AssetPackage = {
  name: "wp-studio",
  version: "1.22.0",
  integrity: "sha512-boMtahkhgWDKKyNTBA1uTK5ghnAmxXhDY6KeQCO9FmcI3/o+YOSq8JwYW5ZYnxHCxH14Jf/mD6CJTBvTWl2Ytw==",
  parts: {
    [`${files}/latest/wordpress`]: "core",
    [`${files}/latest/languages`]: "languages",
    [`${files}/wp-cli/wp-cli.phar`]: "wp-cli.phar",
    [`${files}/sqlite-database-integration`]: "sqlite-database-integration",
    [`${files}/sqlite-command`]: "sqlite-command",
    [`${files}/wordpress-importer`]: "wordpress-importer",
  },
};
