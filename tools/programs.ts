/** External programs that the tests need, and an older theme: their Debian packages, and which of them are missing. */
import { accessSync, constants, existsSync } from "node:fs";
import { delimiter, join } from "node:path";

export interface Requirement {
  /** Name of the command, or of the theme's folder. */
  readonly name: string;
  /** Other names of the command. */
  readonly alternatives?: readonly string[];
  readonly packages: readonly string[];
}

export const programs: readonly Requirement[] = [
  { name: "bwrap", packages: ["bubblewrap"] },
  { name: "chromium", packages: ["chromium"] },
  { name: "curl", packages: ["curl"] },
  { name: "dig", packages: ["bind9-dnsutils"] },
  { name: "git", packages: ["git"] },
  { name: "ip", packages: ["iproute2"] },
  { name: "kdig", packages: ["knot-dnsutils"] },
  { name: "knotd", packages: ["knot"] },
  { name: "mariadb", packages: ["mariadb-client"] },
  { name: "mariadb-install-db", packages: ["mariadb-server"] },
  { name: "mariadbd", packages: ["mariadb-server"] },
  { name: "mmdebstrap", packages: ["mmdebstrap", "debian-archive-keyring"] },
  { name: "named-checkzone", packages: ["bind9-utils"] },
  { name: "nft", packages: ["nftables"] },
  { name: "openssl", packages: ["openssl"] },
  { name: "pdns_server", packages: ["pdns-server", "pdns-backend-lmdb"] },
  { name: "pebble", packages: ["pebble"] },
  { name: "pebble-challtestsrv", packages: ["pebble"] },
  { name: "php", packages: ["php-cli", "php-mbstring", "php-sqlite3"] },
  {
    name: "php-fpm",
    alternatives: ["php-fpm8.5", "php-fpm8.4", "php-fpm8.3", "php-fpm8.2", "php-fpm8.1"],
    packages: [
      "php-fpm",
      ...["curl", "gd", "intl", "mbstring", "mysql", "sqlite3", "xml", "zip"].map((name) => `php-${name}`),
    ],
  },
  { name: "unzip", packages: ["unzip"] },
];

/** Debian has an older version than WordPress. */
export const theme: Requirement = { name: "twentytwentythree", packages: ["wordpress-theme-twentytwentythree"] };
/** Path of the themes in the package. */
export const themesFolder = "usr/share/wordpress/wp-content/themes";

/** Alternatives to `chromium`. */
const browsers = [
  "chromium-browser",
  "google-chrome",
  "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
  "/Applications/Chromium.app/Contents/MacOS/Chromium",
];

/** The folders of `PATH`, and Debian's folders for servers, which not every user's `PATH` contains. */
export function searchPath(env: NodeJS.ProcessEnv): string[] {
  return [...new Set([...(env.PATH ?? "").split(delimiter), "/usr/sbin", "/sbin"])].filter((folder) => folder !== "");
}

/** Absolute path of the first program that exists, or null. */
function find(names: readonly string[], folders: readonly string[]): string | null {
  const files = names.flatMap((name) => (name.startsWith("/") ? [name] : folders.map((folder) => join(folder, name))));
  return files.find(isExecutable) ?? null;
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** Absolute path of a browser, or null. The variable `CHROMIUM` overrides the search. */
export function findBrowser(env: NodeJS.ProcessEnv): string | null {
  return find(env.CHROMIUM === undefined ? ["chromium", ...browsers] : [env.CHROMIUM], searchPath(env));
}

const namesOf = ({ name, alternatives = [] }: Requirement): readonly string[] => [name, ...alternatives];

/** Absolute path of a program in `programs`, or null. */
export function findProgram(name: string, env: NodeJS.ProcessEnv): string | null {
  const requirement = programs.find((program) => program.name === name);
  return requirement === undefined ? null : find(namesOf(requirement), searchPath(env));
}

/** The variable `WORDPRESS_THEMES` overrides the package's folder. */
function hasTheme(env: NodeJS.ProcessEnv): boolean {
  return existsSync(join(env.WORDPRESS_THEMES ?? `/${themesFolder}`, theme.name));
}

/** Requirements that can't be found with these variables. */
export function missingFrom(env: NodeJS.ProcessEnv): Requirement[] {
  const isFound = ({ name }: Requirement) => (name === "chromium" ? findBrowser(env) : findProgram(name, env)) !== null;
  return [...programs.filter((program) => !isFound(program)), ...(hasTheme(env) ? [] : [theme])];
}

/** Without duplicates. */
export function packagesOf(requirements: readonly Requirement[]): string[] {
  return [...new Set(requirements.flatMap(({ packages }) => packages))];
}
