/** The README in a downloadable backup. */
import type { SiteExport } from "@sitewright/runtimes/runtime.ts";

export interface ReadmeFacts extends SiteExport {
  readonly environmentName: string;
  /** Null: it is the environment as it was when this was made. */
  readonly backupName: string | null;
  /** Where it was: scheme, host and port. */
  readonly address: string;
  readonly phpVersion: string;
  readonly madeAt: Date;
}

interface Renamed {
  readonly from: string;
  readonly to: string;
}

/** Longer lists don't help. */
const mostListed = 100;

/** Names and addresses are foreign text: each stays on its line. */
function line(text: string): string {
  return text.replace(/[\p{Cc}\u2028\u2029]/gu, " ");
}

function listed(title: string, all: readonly string[]): readonly string[] {
  if (all.length === 0) return [];
  const more = all.length > mostListed ? [`- and ${all.length - mostListed} more`] : [];
  return ["", title, "", ...all.slice(0, mostListed).map((each) => `- ${line(each)}`), ...more];
}

function wordpressSteps({ address, multisite }: ReadmeFacts): readonly string[] {
  const network =
    multisite === null
      ? []
      : ["   It is a network of sites: change DOMAIN_CURRENT_SITE in wp-config.php, and add --network.", ""];
  return [
    "1. Put what is in public/ into the web root of the new server.",
    "2. Make an empty database there, in MySQL 5.7 or later or MariaDB 10.3 or later, and import database.sql:",
    "",
    "       mysql --user=USER --password --default-character-set=utf8mb4 DATABASE < database.sql",
    "",
    "   phpMyAdmin imports it too. Tables of the same names are replaced.",
    "3. In wp-config.php put that database's name, user, password and host in the place of database_name_here,",
    "   username_here, password_here and localhost.",
    "4. The site was at:",
    "",
    `       ${line(address)}`,
    "",
    "   Where it has another address now, change it in the database. WP-CLI (https://wp-cli.org) does so also in",
    "   serialised data, where a plain replacement would damage it:",
    "",
    `       wp search-replace '${line(address)}' 'https://www.example.com' --skip-columns=guid`,
    "",
    ...network,
    "5. Log in and save Settings > Permalinks once, so that the web server's rules are written.",
  ];
}

function plainSteps({ tables, address }: ReadmeFacts): readonly string[] {
  const sql =
    "2. Its SQLite databases are in database/, as they were. The same tables for MySQL or MariaDB are in database.sql.";
  return [
    "1. Put what is in public/ into the web root of the new server.",
    tables > 0 ? sql : "2. Its SQLite databases are in database/, as they were.",
    "   Put them outside of the web root, and tell your program where they are.",
    `3. It was at ${line(address)}.`,
  ];
}

/** Returns the text for the files that the zip has under other names. */
export function downloadReadme(facts: ReadmeFacts): (renamed: readonly Renamed[]) => string {
  const { environmentName, backupName, wordpressVersion, phpVersion, madeAt, notes } = facts;
  const state = backupName === null ? "as it was when this was made" : `as it was in the backup "${backupName}"`;
  return (renamed) =>
    [
      line(`${environmentName}, ${state}`),
      "",
      `Made by Sitewright on ${madeAt.toISOString().slice(0, 16).replace("T", " ")} UTC.`,
      wordpressVersion === null ? "It has no WordPress." : `WordPress ${wordpressVersion}.`,
      `It ran on PHP ${phpVersion}.`,
      "",
      "How to run it elsewhere",
      "",
      ...(wordpressVersion === null ? plainSteps(facts) : wordpressSteps(facts)),
      ...listed("What is not quite as it was in the database:", notes),
      ...listed(
        "Files that have other names here, because not every program could unpack theirs:",
        renamed.map(({ from, to }) => `${to} was ${from}`),
      ),
      "",
    ].join("\r\n");
}
