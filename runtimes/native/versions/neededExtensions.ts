/** The extensions that PHP needs for WordPress on SQLite, and the packages that contain them. */

interface Requirement {
  /** One of these is enough. */
  readonly extensions: readonly [string, ...string[]];
  /** Ends of the names of Debian's and Remi's packages. */
  readonly debian: string;
  readonly remi: string;
}

const requirements: readonly Requirement[] = [
  { extensions: ["pdo_sqlite"], debian: "sqlite3", remi: "pdo" },
  { extensions: ["sqlite3"], debian: "sqlite3", remi: "pdo" },
  // Its classes and constants, which plugins name; our own functions use SQLite.
  { extensions: ["mysqli"], debian: "mysql", remi: "mysqlnd" },
  { extensions: ["curl"], debian: "curl", remi: "common" },
  { extensions: ["dom"], debian: "xml", remi: "xml" },
  { extensions: ["xml"], debian: "xml", remi: "xml" },
  { extensions: ["mbstring"], debian: "mbstring", remi: "mbstring" },
  { extensions: ["zip"], debian: "zip", remi: "pecl-zip" },
  { extensions: ["exif"], debian: "common", remi: "common" },
  { extensions: ["fileinfo"], debian: "common", remi: "common" },
  { extensions: ["openssl"], debian: "common", remi: "common" },
  { extensions: ["opcache"], debian: "opcache", remi: "opcache" },
  { extensions: ["gd", "imagick"], debian: "gd", remi: "gd" },
];

/** Debian's packages of PHP's current version there, with all extensions that are needed or recommended. */
export const debianPackages: readonly string[] = [
  "fpm",
  "cli",
  "curl",
  "gd",
  "intl",
  "mbstring",
  "mysql",
  "sqlite3",
  "xml",
  "zip",
].map((name) => `php-${name}`);

/** Without this one, WordPress works, but sorts and compares some languages wrongly. */
export const recommendedExtension = "intl";

/** The sentence for a machine without any PHP that is offered. */
export const noPhpMessage = `The native runtime needs php-fpm 8.1 or newer: apt-get install ${debianPackages.join(" ")}`;

/** The beginning of the names of packages for this php-fpm, or null if it does not come from packages that we know. */
function packagePrefix(fpm: string): { readonly kind: "debian" | "remi"; readonly prefix: string } | null {
  const remi = /^\/opt\/remi\/(php\d+)\//.exec(fpm)?.[1];
  if (remi !== undefined) return { kind: "remi", prefix: `${remi}-php-` };
  const version = /^\/usr\/sbin\/php-fpm([\d.]*)$/.exec(fpm)?.[1];
  return version === undefined ? null : { kind: "debian", prefix: `php${version}-` };
}

/**
 * Returns what this php-fpm lacks, to follow "PHP 8.3 is not offered: ", or null if it has everything.
 *
 * Returns for example `it has no mbstring or zip. Install php8.3-mbstring php8.3-zip.`
 */
export function describeMissing(fpm: string, extensions: readonly string[]): string | null {
  const missing = requirements.filter(
    (requirement) => !requirement.extensions.some((name) => extensions.includes(name)),
  );
  if (missing.length === 0) return null;
  const names = new Intl.ListFormat("en", { type: "disjunction" }).format(
    missing.map(({ extensions: [name] }) => name),
  );
  const packages = packagePrefix(fpm);
  if (packages === null) return `it has no ${names}. Add the missing extensions.`;
  const wanted = [...new Set(missing.map((requirement) => `${packages.prefix}${requirement[packages.kind]}`))];
  return `it has no ${names}. Install ${wanted.join(" ")}.`;
}

/** The same for the command-line program. */
export function describeMissingCommandLine(fpm: string, version: string): string {
  const packages = packagePrefix(fpm);
  const advice = packages === null ? "Add it next to php-fpm" : `Install ${packages.prefix}cli`;
  return `it has no command-line program of PHP ${version} with the same extensions. ${advice}.`;
}
