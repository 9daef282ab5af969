/**
 * The operator's commands: their arguments and help texts. A command's module is loaded only when it runs, so that help is
 * fast.
 */
import type { Command } from "./command.ts";

const json = { json: { type: "boolean" } } as const;
const text = { type: "string" } as const;
const limitOptions = {
  sites: text,
  environments: text,
  domains: text,
  keys: text,
  "disk-gb": text,
  threads: text,
  "memory-mb": text,
  "mail-per-hour": text,
} as const;

/** Commands by name, of one or two words. */
const commands: Readonly<Record<string, Command>> = {
  status: {
    usage: "status [--json]",
    summary: "shows the state of the processes, and their current work",
    options: json,
    words: [0, 0],
    load: async () => (await import("./status.ts")).status,
  },
  sites: {
    usage: "sites [--json]",
    summary: "lists the sites of all companies with their environments and addresses",
    options: json,
    words: [0, 0],
    load: async () => (await import("./sites.ts")).sites,
  },
  "company create": {
    usage: 'company create "<name>" [--json]',
    summary: "creates a company with an owner and an API key, and prints them",
    details: ['--json    as {"company_id", "api_key", "admin_email", "admin_password"}'],
    options: json,
    words: [1, 1],
    load: async () => (await import("./company.ts")).create,
  },
  "company delete": {
    usage: "company delete <company id>",
    summary: "deletes a company without sites, with its users and API keys",
    words: [1, 1],
    load: async () => (await import("./company.ts")).remove,
  },
  "company limits": {
    usage: "company limits <company id> | --all [--sites 10] [--disk-gb 50] … [--reset] [--json]",
    summary: "shows or sets what a company may use, or all companies that have no limits of their own",
    details: [
      "--all            all companies that have no limits of their own",
      "--sites          number of sites, like the next three; each takes a number, or none for no limit",
      "--environments   number of environments of all sites",
      "--domains        number of domains, without those that environments get by themselves",
      "--keys           number of API keys",
      "--disk-gb        size of all environments together",
      "--threads        number of PHP requests that run at the same time",
      "--memory-mb      memory of each PHP thread",
      "--mail-per-hour  number of mail recipients per hour",
      "--reset          removes these limits, so that those of --all apply",
    ],
    options: { ...json, ...limitOptions, all: { type: "boolean" }, reset: { type: "boolean" } },
    words: [0, 1],
    load: async () => (await import("./companyLimits.ts")).limits,
  },
  "company list": {
    usage: "company list [--json]",
    summary: "lists the companies with the number of their sites",
    options: json,
    words: [0, 0],
    load: async () => (await import("./company.ts")).list,
  },
  "domain confirm": {
    usage: "domain confirm <domain name>",
    summary: "says that the company that added a domain owns it, if it can't prove that by DNS",
    words: [1, 1],
    load: async () => (await import("./domains.ts")).confirm,
  },
  "keys create": {
    usage: 'keys create <company id> ["<name>"] [--json]',
    summary: "creates an API key for the company's owner, and prints it",
    options: json,
    words: [1, 2],
    load: async () => (await import("./keys.ts")).create,
  },
  "keys revoke": {
    usage: "keys revoke <key id>",
    summary: "revokes an API key at once",
    words: [1, 1],
    load: async () => (await import("./keys.ts")).revoke,
  },
  keys: {
    usage: "keys [--json]",
    summary: "lists the API keys of all companies",
    options: json,
    words: [0, 0],
    load: async () => (await import("./keys.ts")).list,
  },
  "users reset-password": {
    usage: "users reset-password <e-mail address> [--json]",
    summary: "gives somebody a new password, which they have to change, and ends their sessions",
    options: json,
    words: [1, 1],
    load: async () => (await import("./users.ts")).resetUserPassword,
  },
  "users reset-second-factor": {
    usage: "users reset-second-factor <e-mail address> [--json]",
    summary: "removes the second factor of somebody who has lost it, and ends their sessions",
    options: json,
    words: [1, 1],
    load: async () => (await import("./users.ts")).resetUserSecondFactor,
  },
  "users make-operator": {
    usage: "users make-operator <e-mail address> [--json]",
    summary: "lets somebody see the state of the installation in the console",
    options: json,
    words: [1, 1],
    load: async () => (await import("./users.ts")).makeOperator,
  },
  "users remove-operator": {
    usage: "users remove-operator <e-mail address> [--json]",
    summary: "no longer lets somebody see the state of the installation",
    options: json,
    words: [1, 1],
    load: async () => (await import("./users.ts")).removeOperator,
  },
  logs: {
    usage: "logs [control|edge|dns|postgres] [--lines 50] [--follow] [--json]",
    summary: "shows the newest lines of the logs",
    details: [
      "--lines   the number of lines",
      "--follow  prints new lines until Ctrl-C",
      "--json    prints the lines unformatted",
    ],
    options: { ...json, lines: { type: "string" }, follow: { type: "boolean", short: "f" } },
    words: [0, 1],
    load: async () => (await import("./logs.ts")).logs,
  },
  doctor: {
    usage: "doctor [--json]",
    summary: "checks the machine and the settings, and says what to improve",
    options: json,
    words: [0, 0],
    load: async () => (await import("./doctor.ts")).doctor,
  },
  "audit verify": {
    usage: "audit verify [--json]",
    summary: "checks that nobody has changed, removed or inserted entries of the activity log",
    details: ["--json    as a list of chains, each with its newest hash: keep it elsewhere as evidence"],
    options: json,
    words: [0, 0],
    load: async () => (await import("./audit.ts")).verify,
  },
  "audit export": {
    usage: "audit export <file> [--company <id>] [--from <time>] [--to <time>] [--csv]",
    summary: "writes the activity log of all companies and of the operator into a file, with its seals",
    details: [
      "--company  only the log of this company",
      "--from     only entries from this time on, such as 2026-11-01 or 2026-11-01T12:00:00Z",
      "--to       only entries before this time",
      "--csv      for spreadsheets, without seals; otherwise JSON lines",
    ],
    options: {
      company: { type: "string" },
      from: { type: "string" },
      to: { type: "string" },
      csv: { type: "boolean" },
    },
    words: [1, 1],
    load: async () => (await import("./auditExport.ts")).exportLog,
  },
  "audit accept": {
    usage: 'audit accept "<reason>"',
    summary: "seals the activity log again as it is now, after a break was found and explained",
    details: ["The reason becomes an entry of the operator's log."],
    words: [1, 1],
    load: async () => (await import("./audit.ts")).accept,
  },
  "php list": {
    usage: "php list [--json]",
    summary: "lists the versions of PHP for the native runtime, and why others are not offered",
    options: json,
    words: [0, 0],
    load: async () => (await import("./php.ts")).list,
  },
  "php add": {
    usage: "php add <folder | Debian release> [--mirror <url>] [--security-mirror <url>]",
    summary: "adds a folder with a system that has php-fpm, or extracts PHP from a release of Debian",
    details: [
      "A folder, such as /opt/php, stays where it is. A release, such as trixie, is downloaded; add it again to update it.",
      "--mirror           Debian's archive; without it, the one that this machine uses",
      "--security-mirror  Debian's archive of security updates",
    ],
    options: { mirror: { type: "string" }, "security-mirror": { type: "string" } },
    words: [1, 1],
    load: async () => (await import("./php.ts")).add,
  },
  "php remove": {
    usage: "php remove <version | folder | Debian release> [--force]",
    summary: "removes what php add has added",
    details: ["--force  even if environments run on it, or if Sitewright is not running to tell"],
    options: { force: { type: "boolean" } },
    words: [1, 1],
    load: async () => (await import("./php.ts")).remove,
  },
  backup: {
    usage: "backup <file> [--force] [--with-backups]",
    summary: "writes the installation's database, keys and settings into one encrypted file",
    details: [
      "--force         replaces an existing file",
      "--with-backups  backs up every environment first, while the installation runs",
      "Asks for the passphrase, or takes it from SITEWRIGHT_BACKUP_PASSPHRASE.",
    ],
    options: { force: { type: "boolean" }, "with-backups": { type: "boolean" } },
    words: [1, 1],
    load: async () => (await import("./backup.ts")).runBackup,
  },
  restore: {
    usage: "restore <file>",
    summary: "restores the file of the backup command into an empty data folder",
    details: ["Asks for the passphrase, or takes it from SITEWRIGHT_BACKUP_PASSPHRASE."],
    words: [1, 1],
    load: async () => (await import("./restore.ts")).runRestore,
  },
  "archive-key rotate": {
    usage: "archive-key rotate [--force] [--json]",
    summary: "replaces the key that encrypts backups while the installation runs, or shows how far a replacement is",
    details: ["--force  begins another replacement while the older key is still needed"],
    options: { ...json, force: { type: "boolean" } },
    words: [0, 0],
    load: async () => (await import("./archiveKey.ts")).rotate,
  },
  "secrets rotate": {
    usage: "secrets rotate [--force] [--json]",
    summary: "replaces the key that seals secrets while the installation runs, or continues a replacement",
    details: ["--force  begins another replacement while the older key is still kept"],
    options: { ...json, force: { type: "boolean" } },
    words: [0, 0],
    load: async () => (await import("./secrets.ts")).rotate,
  },
  "first-run": {
    usage: "first-run [--forget]",
    summary: "shows which file has the first company's API key and password",
    details: ["--forget  deletes the file; the key and the password stay valid"],
    options: { forget: { type: "boolean" } },
    words: [0, 0],
    load: async () => (await import("./firstRun.ts")).firstRun,
  },
  stop: {
    usage: "stop",
    summary: "stops the installation, and waits until it has ended",
    words: [0, 0],
    load: async () => (await import("./stop.ts")).stop,
  },
  version: {
    usage: "version",
    summary: "prints the versions of Sitewright and Node",
    words: [0, 0],
    load: async () => (await import("./version.ts")).version,
  },
  mirror: {
    usage: "mirror <folder> [--listen 127.0.0.1:8090]",
    summary: "serves the zips of plugins, themes and WordPress in a folder instead of WordPress.org",
    details: ["--listen  address and port"],
    options: { listen: { type: "string" } },
    words: [1, 1],
    load: async () => (await import("./mirror.ts")).runMirror,
  },
};

const program = "npm run --silent operator --";

/** Help for one command. */
export function helpOf({ usage, summary, details = [] }: Command): string {
  return [`Usage: ${program} ${usage}`, "", `  ${summary}`, ...details.map((line) => `  ${line}`)].join("\n");
}

/** Help for the commands whose names begin with these words, or for all if there is none. */
export function overview(words: readonly string[] = []): string {
  const named = Object.entries(commands).filter(([name]) => name.startsWith(`${words.join(" ")} `));
  const all = Object.values(named.length === 0 ? commands : Object.fromEntries(named)).toSorted((one, other) =>
    one.usage < other.usage ? -1 : 1,
  );
  return [
    `Usage: ${program} <command> [--help]`,
    "",
    ...all.flatMap(({ usage, summary }) => [`  ${usage}`, `      ${summary}`]),
  ].join("\n");
}

/** Finds the command that the words begin with. Returns it with the words after its name, or null. */
export function findCommand(words: readonly string[]): { readonly command: Command; readonly rest: string[] } | null {
  for (const length of [2, 1]) {
    const command = commands[words.slice(0, length).join(" ")];
    if (command !== undefined && words.length >= length) return { command, rest: words.slice(length) };
  }
  return null;
}
