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

const leftover = "bak|backup|old|orig|save|sw[mnop]|log|sql|dump|(?:sqlite|db)\\d?(?:-\\w+)?";
const compressed = "gz|tgz|bz2|xz|zst|br|lz4|lzma|z|zip|7z|tar|rar";
/** Added to the name of a copy by transfers, by hand or by encryption. */
const wrapped = "txt|part|tmp|crypt|enc|gpg|age";

/** Refused wherever they occur in a path, whether or not the file exists. All have a character that addresses of articles lack. */
export const sensitiveNames: readonly SensitiveKind[] = [
  {
    kind: "WordPress configuration and its copies",
    pattern: /^wp-config.*[.~]/i,
    examples: ["wp-config.php", "wp-config.php.bak", "wp-config.php~", "wp-config.old", "wp-config.save"],
  },
  { kind: "PHP settings", pattern: /^(?:php|\.user)\.ini$/i, examples: ["php.ini", ".user.ini"] },
  {
    kind: "editor leftovers, copies, logs, dumps and databases, also compressed or numbered",
    pattern: new RegExp(`(?:~|\\.(?:${leftover})(?:[.-]\\d+)*(?:\\.(?:${compressed}|${wrapped}))*)$`, "i"),
    examples: [
      ...["style.css~", "x.swp", "debug.log", "debug.log.1", "a.log-20261126.gz", "dump.sql.gz", "site.db-wal"],
      ...["dump.sql.tar.gz", "dump.sql.br", "dump.sql.txt", "dump.sql.gz.crypt", "dump.sql.1.zip", "x.sqlite3.part"],
    ],
  },
  { kind: "Emacs copies", pattern: /^#.*#$/, examples: ["#index.php#"] },
  {
    kind: "private keys and key stores",
    pattern: /\.(?:pem|p12|pfx|ppk|jks|keystore|kdbx|ovpn)$/i,
    examples: ["server.pem", "client.p12", "keys.kdbx"],
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
    pattern: /^(?:web\.config|wp-cli(?:\.local)?\.yml|(?:docker-)?compose\.ya?ml|phpunit\.xml(?:\.dist)?)$/i,
    examples: ["web.config", "wp-cli.yml", "docker-compose.yml", "compose.yaml", "phpunit.xml.dist"],
  },
  {
    kind: "complete sites of migration and backup plugins",
    pattern: /\.(?:wpress|daf|wpstg|wprime|ebwp|jpa|jps)$/i,
    examples: ["site.wpress", "x.daf", "site.wpstg", "site.wprime", "site.ebwp", "site.jpa"],
  },
];

/** Refused as existing files only: without a file, such an address may be an article. */
export const sensitiveFiles: readonly SensitiveKind[] = [
  {
    kind: "WordPress configuration without an extension",
    pattern: /^wp-config/i,
    examples: ["wp-config", "wp-config-old"],
  },
  {
    kind: "error logs",
    pattern: /^(?:php_)?error_?log(?:[.-]\d+)?$/i,
    examples: ["error_log", "php_errorlog", "error_log-20261126"],
  },
  {
    kind: "keys of SSH",
    pattern: /^id_(?:rsa|dsa|ecdsa|ed25519)(?:_sk)?$/i,
    examples: ["id_rsa", "id_ed25519", "id_ecdsa_sk"],
  },
  {
    kind: "dumps and files of database servers",
    pattern: /\.(?:(?:my|p|pg)sql|dmp|rdb|ibd|my[di]|frm)(?:\.\w{1,5})*$/i,
    examples: ["shop.mysql", "shop.pgsql.gz", "shop.dmp", "dump.rdb", "wp_users.ibd", "wp_users.MYD", "wp_users.frm"],
  },
  {
    kind: "compressed dumps, which are no products of a shop, unlike archives",
    pattern: new RegExp(
      `(?:^|[-_.])(?:db|database|dump|(?:my|pg)?sql(?:dump)?)[-_.\\d]*\\.(?:gz|bz2|xz|zst|br|lz4|lzma|z)(?:\\.(?:${wrapped}))?$`,
      "i",
    ),
    examples: ["db.gz", "shop_db.gz", "shop-database-2026.11.26.bz2", "mysqldump.xz", "backup_shop-db.gz.crypt"],
  },
  {
    kind: "archives of backup plugins, with a date or the name of a part of the site",
    pattern: new RegExp(
      `^(?:back-?up|bkp|dump)s?[-_.](?:.*[-_.])?(?:20\\d\\d[-_.]?[01]\\d[-_.]?[0-3]\\d.*|(?:db|database|sql|full|files|plugins|themes|uploads|others)\\d*)(?:\\.(?:${compressed}|${wrapped}))+$`,
      "i",
    ),
    examples: [
      ...["backup_2026-11-26-1530_Shop_0123456789ab-uploads2.zip", "backup_shop_db.zip", "backup-20261126.tar.gz"],
      ...["Backup_2026-11-26.7z", "dump_shop_full.zip", "backup_2026-11-26-1530_Shop_0123456789ab-plugins.zip"],
    ],
  },
  { kind: "settings of containers", pattern: /^dockerfile$/i, examples: ["Dockerfile"] },
];

/** Refused as existing files outside of uploads, because an upload of this type is a Keynote presentation. */
export const sensitiveOutsideUploads: readonly SensitiveKind[] = [
  { kind: "private keys", pattern: /\.key$/i, examples: ["secret.key", "server.KEY"] },
];

/** Refused as existing files in `wp-content` and in folders of backups. Elsewhere they may be products of a shop. */
export const archives: SensitiveKind = {
  kind: "archives",
  // A compressed sitemap is public.
  pattern: /(?<!\.xml)\.(?:zip|rar|7z|tar|tgz|tbz2?|txz|gz|bz2|xz|zst|lz4|lzma|iso)$/i,
  examples: ["dump.zip", "backup.tar.gz", "public_html.rar", "site.tgz", "wp-content.7z", "fonts.gz"],
};

/**
 * Developers leave archives of the whole site in the web root, but sites also link to downloads there. Refused is a name
 * with something of the first list, and a name that has only words of the second, of the host's name, and digits.
 */
export const siteArchives = {
  anywhere:
    /back-?up|(?<![a-z])bak(?![a-z])|dump(?!ling)|sql|database|wordpress|wp-?content|website|public_?html|htdocs|httpdocs|wwwroot|webroot|(?<![a-z])(?:db|www|site|wp)(?![a-z])|(?<!\d)20\d\d[-_.]?[01]\d[-_.]?[0-3]\d(?!\d)/i,
  onlyWords: new Set(
    `a admin all app archive back bin bitnami build code com complete conf config copy core data deploy dev dir dist files final
    full home htm html includes index latest live local main master migration my mysite net new old org out php plugins prod
    production project public release root server sites snapshot source src staging sys temp test theme themes tmp upload
    uploads v var web work zip`.split(/\s+/),
  ),
  /** At `shop.example.com`. */
  examples: [
    ...["backup.zip", "my-back-up.tar.gz", "bak.rar", "dump.tgz", "mysql_1.zip", "wordpress-old.zip", "wp-content.7z"],
    ...[
      "public_html.zip",
      "www.zip",
      "db.zip",
      "site1.zip",
      "new_site.zip",
      "shop-2026-11-26.zip",
      "20261126_x_archive.zip",
    ],
    ...[
      "example.zip",
      "example.com.zip",
      "shop.example.com.tar.gz",
      "example_2026.zip",
      "example-old.zip",
      "examplecom.zip",
    ],
    ...["old.zip", "1.zip", "html.tar", "archive.zip", "src2.zip", "latest.tar.gz", "files_full.zip"],
  ],
  served: [
    ...["download.zip", "catalog.zip", "catalog-2026.zip", "shop-catalog.zip", "press_photos.zip", "dumplings.zip"],
    ...["bakery.zip", "sitemap.zip", "example-brochure.zip", "fonts.tar.gz", "parasite.zip", "exam.zip", "каталог.zip"],
  ],
};

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
  ...[
    "backups-dup-(?:lite|pro)",
    "wp-snapshots",
    "updraft",
    "backup-[0-9a-z]{5,}",
    "backup-migration.*",
    "db-backups?",
  ],
  ...["wpvivid.*", "xcloner.*", "boldgrid_backup.*", "prime-mover.*", "jetbackup.*", "ebwp-backups?"],
];

/** Names of folders in which plugins keep backups, at any depth. */
export const backupFolder = new RegExp(`^(?:${backupFolders.join("|")})$`, "i");
