/** The README in a downloadable backup. */
import type { SiteExport } from "@sitewright/runtimes/runtime.ts";

interface ReadmeFacts extends SiteExport {
  readonly environmentName: string;
  /** Null if the zip was made from the environment, not from a backup. */
  readonly backupName: string | null;
  /** Scheme, host and port of the site. */
  readonly address: string;
  readonly phpVersion: string;
  readonly madeAt: Date;
}

interface Renamed {
  readonly from: string;
  readonly to: string;
}

/** Longer lists would not be read. */
const maxListed = 100;

/** Names and addresses are untrusted text: removes line breaks and control characters. */
function line(text: string): string {
  return text.replace(/[\p{Cc}\u2028\u2029]/gu, " ");
}

function listed(title: string, all: readonly string[]): readonly string[] {
  if (all.length === 0) return [];
  const more = all.length > maxListed ? [`- and ${all.length - maxListed} more`] : [];
  return ["", title, "", ...all.slice(0, maxListed).map((each) => `- ${line(each)}`), ...more];
}

function wordpressSteps({ address, multisite }: ReadmeFacts): readonly string[] {
  const network =
    multisite === null
      ? []
      : ["   This is a network of sites: also change DOMAIN_CURRENT_SITE in wp-config.php, and add --network.", ""];
  return [
    "1. Copy the content of public/ to the web root of the new server.",
    "2. Create an empty database there, in MySQL 5.7 or later or MariaDB 10.3 or later, and import database.sql:",
    "",
    "       mysql --user=USER --password --default-character-set=utf8mb4 DATABASE < database.sql",
    "",
    "   You can also use phpMyAdmin. Existing tables with the same names are replaced.",
    "3. In wp-config.php, replace database_name_here, username_here, password_here and localhost with the database's",
    "   name, user, password and host.",
    "4. The site's address was:",
    "",
    `       ${line(address)}`,
    "",
    "   If it has a new address, change it in the database. Use WP-CLI (https://wp-cli.org), because it handles",
    "   serialised data, which a plain text replacement would damage:",
    "",
    `       wp search-replace '${line(address)}' 'https://www.example.com' --skip-columns=guid`,
    "",
    ...network,
    "5. Log in, open Settings > Permalinks and save once, so that WordPress writes the web server's rules.",
  ];
}

function plainSteps({ databaseKind, tables, address }: ReadmeFacts): readonly string[] {
  const databases = `2. The ${databaseKind} databases are in database/.`;
  return [
    "1. Copy the content of public/ to the web root of the new server.",
    tables > 0 ? `${databases} database.sql has the same tables for MySQL or MariaDB.` : databases,
    "   Copy them to a folder outside the web root, and set their path in your program.",
    `3. The site's address was ${line(address)}.`,
  ];
}

/** Returns a function that writes the README, given the files that were renamed in the zip. */
export function downloadReadme(facts: ReadmeFacts): (renamed: readonly Renamed[]) => string {
  const { environmentName, backupName, wordpressVersion, phpVersion, madeAt, notes } = facts;
  const source = backupName === null ? "the environment when this zip was made" : `the backup "${backupName}"`;
  return (renamed) =>
    [
      line(`${environmentName}: ${source}`),
      "",
      `Made by Sitewright on ${madeAt.toISOString().slice(0, 16).replace("T", " ")} UTC.`,
      wordpressVersion === null ? "No WordPress." : `WordPress ${wordpressVersion}.`,
      `PHP ${phpVersion}.`,
      "",
      "How to run it elsewhere",
      "",
      ...(wordpressVersion === null ? plainSteps(facts) : wordpressSteps(facts)),
      ...listed("Changes to the database:", notes),
      ...listed(
        "Renamed files, because some programs can't unpack their original names:",
        renamed.map(({ from, to }) => `${to} was ${from}`),
      ),
      "",
    ].join("\r\n");
}
