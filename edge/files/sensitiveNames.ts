/**
 * The list of names that visitors never get, with examples, which are also the tests. To protect another kind of file,
 * add a row. Names that begin with a dot, and PHP sources, are handled in `forbidden.ts`.
 */

interface SensitiveKind {
  readonly kind: string;
  /** Matches a single name, without its folder. */
  readonly pattern: RegExp;
  readonly examples: readonly string[];
}

const leftover = "bak|backup|old|orig|save|sw[a-p]|log|sql|dump|(?:sqlite|db)\\d?(?:-\\w+)?";
const compressed = "gz|tgz|bz2|xz|zst|zip|7z|tar|rar";

/** Refused wherever they occur in a path, whether or not the file exists. Most require a dot, as articles have none. */
export const sensitiveNames: readonly SensitiveKind[] = [
  {
    kind: "WordPress configuration and its copies",
    pattern: /^wp-config.*[.~]/i,
    examples: ["wp-config.php", "wp-config.php.bak", "wp-config.php~", "wp-config.old", "wp-config.save"],
  },
  { kind: "PHP settings", pattern: /^(?:php|\.user)\.ini$/i, examples: ["php.ini", ".user.ini"] },
  {
    kind: "editor leftovers, copies, logs, dumps and databases, also compressed or numbered",
    pattern: new RegExp(`(?:~|\\.(?:${leftover})(?:[.-]\\d+)*(?:\\.(?:${compressed}))?)$`, "i"),
    examples: ["style.css~", "x.swp", "debug.log", "debug.log.1", "a.log-20261126.gz", "dump.sql.gz", "site.db-wal"],
  },
  {
    kind: "error logs",
    pattern: /^(?:php_)?error_?log(?:[.-]\d+)?$/i,
    examples: ["error_log", "php_errorlog", "error_log-20261126"],
  },
  { kind: "Emacs copies", pattern: /^#.*#$/, examples: ["#index.php#"] },
  {
    kind: "private keys and key stores",
    pattern: /^id_(?:rsa|dsa|ecdsa|ed25519)(?:_sk)?$|\.(?:pem|p12|pfx|ppk|jks|keystore|kdbx|ovpn)$/i,
    examples: ["id_rsa", "id_ed25519", "id_ecdsa_sk", "server.pem", "client.p12", "keys.kdbx"],
  },
  {
    kind: "manifests of package managers, which list vulnerable versions",
    pattern:
      /^(?:(?:composer|package|bower)\.json|(?:composer|yarn|bun)\.lock|(?:package|pnpm)-lock\.(?:json|ya?ml))$/i,
    examples: ["composer.json", "composer.lock", "package.json", "package-lock.json", "pnpm-lock.yaml", "yarn.lock"],
  },
  {
    kind: "credentials of package managers and upload programs",
    pattern: /^(?:auth\.json|s?ftp-?config\.json|ftpsync\.settings)$/i,
    examples: ["auth.json", "sftp-config.json", "ftpsync.settings"],
  },
  {
    kind: "settings of other servers and of deployments, often with passwords",
    pattern: /^(?:web\.config|wp-cli(?:\.local)?\.yml|(?:docker-)?compose\.ya?ml|dockerfile|phpunit\.xml(?:\.dist)?)$/i,
    examples: ["web.config", "wp-cli.yml", "docker-compose.yml", "compose.yaml", "Dockerfile", "phpunit.xml.dist"],
  },
  { kind: "complete sites of migration plugins", pattern: /\.(?:wpress|daf)$/i, examples: ["site.wpress", "x.daf"] },
];

/** Refused as existing files only: without a file, such an address may be an article. */
export const sensitiveFiles: readonly SensitiveKind[] = [
  {
    kind: "WordPress configuration without an extension",
    pattern: /^wp-config/i,
    examples: ["wp-config", "wp-config-old"],
  },
];

/** Refused as existing files outside of uploads, because an upload of this type is a Keynote presentation. */
export const sensitiveOutsideUploads: readonly SensitiveKind[] = [
  { kind: "private keys", pattern: /\.key$/i, examples: ["secret.key", "server.KEY"] },
];

/** Refused as existing files in the folders below. Elsewhere they may be products of a shop. */
export const archives: SensitiveKind = {
  kind: "archives",
  // A compressed sitemap is public.
  pattern: /(?<!\.xml)\.(?:zip|rar|7z|tar|tgz|tbz2?|txz|gz|bz2|xz|zst|lz4|lzma|iso)$/i,
  examples: ["dump.zip", "backup.tar.gz", "public_html.rar", "site.tgz", "wp-content.7z", "db.gz"],
};

/** Folders in which developers leave archives of the site: the web root and `wp-content`. */
export const archiveFolders: readonly string[] = ["", "wp-content"];

const backupFolders = [
  ...[
    "backups?",
    "wp-backups?",
    "backup-db",
    "ai1wm-backups",
    "backwpup.*",
    "backupwordpress.*",
    "backupbuddy_backups",
  ],
  ...["backups-dup-(?:lite|pro)", "wp-snapshots", "updraft"],
];

/** Names of folders in which plugins keep backups, at any depth. */
export const backupFolder = new RegExp(`^(?:${backupFolders.join("|")})$`, "i");
