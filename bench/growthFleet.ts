/**
 * Adds sleeping environments to an installation: rows by the store's own functions, and small folders with a database, in the place
 * of the files of a real site. Nothing is due for them: they were measured and read, and their WP-Cron events are a year away.
 */
import { chmod, chown, copyFile, cp, link, mkdir, readdir, readFile, symlink } from "node:fs/promises";
import { dirname, join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setTimeout as delay } from "node:timers/promises";
import { ownerOf, useUsersFrom } from "@sitewright/runtimes/owner.ts";
import type { InstalledPackages } from "@sitewright/runtimes/runtime.ts";
import { createEventReader } from "@sitewright/runtimes/sqlite/events/nextEvents.ts";
import { makeReadPackages } from "@sitewright/server/reconcilers/readPackages.ts";
import type { Database } from "@sitewright/server/store/database.ts";
import { noteCheck } from "@sitewright/server/store/domains/domainChecks.ts";
import { openDatabase } from "@sitewright/server/store/open.ts";
import { measureDiskUse } from "@sitewright/server/store/sites/diskUse.ts";
import { noteWordPressVersion } from "@sitewright/server/store/sites/siteStates.ts";
import { addCompany, addSite } from "@sitewright/server/store/testing/rows.ts";
import { readInstallation, readRun } from "@sitewright/supervisor/records.ts";

/** As of an agency. */
const sitesPerCompany = 25;
const daySeconds = 86_400;
const yearSeconds = 365 * daySeconds;

/** What every environment has: the files of one site that fell asleep. */
export interface Template {
  /** A release of the site, with only the files that are read while it sleeps. */
  readonly release: string;
  readonly wordpressVersion: string;
  readonly logs: string;
}

export interface Sleeper {
  readonly id: string;
  readonly number: number;
  readonly host: string;
}

/** Files of the web root that are read while a site sleeps, or that its visitors get without PHP. */
function isRead(file: string): boolean {
  return /^(wp-config\.php|readme\.html|wp-content\/(db\.php|(plugins|themes)\/([^/]+\.php|[^/]+\/(style\.css|[^/]+\.php))))$/.test(
    file,
  );
}

/** Makes a template in `folder` from a site of the installation with the data folder `data`. */
export async function makeTemplate(data: string, environmentId: string, folder: string): Promise<Template> {
  const source = join(data, "environments", environmentId, "releases", "1");
  const release = join(folder, "release");
  for (const entry of await readdir(join(source, "public"), { recursive: true })) {
    if (!isRead(entry)) continue;
    const file = join(release, "public", entry);
    await mkdir(dirname(file), { recursive: true });
    await copyFile(join(source, "public", entry), file);
    await chmod(file, 0o644);
  }
  await copyFile(join(source, "release.json"), join(release, "release.json"));
  const database = join(release, "database", "wordpress.sqlite");
  await mkdir(dirname(database));
  await copyFile(join(source, "database", "wordpress.sqlite"), database);
  postponeEvents(database);
  const logs = join(folder, "logs");
  await cp(join(data, "environment-logs", environmentId), logs, { recursive: true });
  const record: unknown = JSON.parse(await readFile(join(release, "release.json"), "utf8"));
  return { release, logs, wordpressVersion: versionIn(record) };
}

function versionIn(record: unknown): string {
  if (typeof record !== "object" || record === null || !("wordpressVersion" in record))
    throw new Error("Not a release");
  return String(record.wordpressVersion);
}

/** Otherwise all of the environments would wake up at the same time. */
function postponeEvents(file: string): void {
  const database = new DatabaseSync(file);
  try {
    const { option_value: value } =
      database.prepare("select option_value from wp_options where option_name = 'cron'").get() ?? {};
    if (typeof value !== "string") throw new Error(`${file} has no WP-Cron events`);
    const later = value.replace(/i:(\d{10});a:/g, (_, time) => `i:${Number(time) + yearSeconds};a:`);
    database.prepare("update wp_options set option_value = ? where option_name = 'cron'").run(later);
  } finally {
    database.close();
  }
}

/** Adds `count` environments, 25 to a company, to the running installation with the data folder `data`. */
export async function addSleepers(data: string, template: Template, count: number): Promise<readonly Sleeper[]> {
  const run = readRun(data);
  if (run === null) throw new Error(`No installation is running on ${data}`);
  const { firstUserId } = readInstallation(data) ?? {};
  if (firstUserId !== undefined) useUsersFrom(firstUserId);
  const { database, close } = openDatabase(run.database_url);
  try {
    const sleepers: Sleeper[] = [];
    const add = async (companyId: string) => {
      const { environmentId: id, name } = await addSite(database, companyId);
      const { number } = await database
        .selectFrom("environments")
        .select("number")
        .where("id", "=", id)
        .executeTakeFirstOrThrow();
      await noteWordPressVersion(database, id, template.wordpressVersion);
      await addFolders(data, template, { id, number });
      await noteDomainChecks(database, id);
      await measureDiskUse(database, { id, number }, async () => ({ files: 16e6, database: 4e5, temporary: 0 }));
      sleepers.push({ id, number, host: `${name}.localhost` });
    };
    for (let done = 0; done < count; done += sitesPerCompany) {
      const { companyId } = await addCompany(database);
      const ofCompany = Math.min(sitesPerCompany, count - done);
      await Promise.all(Array.from({ length: ofCompany }, () => add(companyId)));
    }
    await notePackages(database, sleepers);
    return sleepers;
  } finally {
    await close();
  }
}

/** As after a check that failed. The next one is a day later. */
async function noteDomainChecks(database: Database, environmentId: string): Promise<void> {
  const domains = await database
    .selectFrom("domains")
    .select("id")
    .where("environment_id", "=", environmentId)
    .execute();
  for (const { id } of domains) {
    const outcome = { id, found: null, failures: 1, secondsUntilNext: daySeconds };
    await database.transaction().execute((transaction) => noteCheck(transaction, outcome));
  }
}

/** Links files that all can read. The rest belongs to the environment's user, if environments have users. */
async function addFolders(data: string, { release, logs }: Template, { id, number }: Omit<Sleeper, "host">) {
  const live = join(data, "environments", id);
  const own = join(live, "releases", "1");
  const owned = [live, join(live, "releases"), own];
  for (const entry of await readdir(release, { recursive: true, withFileTypes: true })) {
    const file = join(entry.parentPath, entry.name);
    const target = join(own, file.slice(release.length + 1));
    if (entry.isFile() && entry.name !== "wordpress.sqlite") {
      await mkdir(dirname(target), { recursive: true });
      await link(file, target);
    } else {
      await (entry.isFile() ? copyFile(file, target) : mkdir(target, { recursive: true }));
      owned.push(target);
    }
  }
  await symlink(join("releases", "1"), join(live, "current"));
  await chmod(live, 0o700);
  if (process.getuid?.() === 0) for (const each of owned) await chown(each, ownerOf(number), ownerOf(number));
  await cp(logs, join(data, "environment-logs", id), { recursive: true });
}

/** Stores ten packages for each environment, as the reconciler does. */
async function notePackages(database: Database, sleepers: readonly Sleeper[]): Promise<void> {
  const found: InstalledPackages = {
    problem: null,
    packages: Array.from({ length: 10 }, (_, at) => ({
      kind: at < 8 ? "plugin" : "theme",
      name: `package-${at}`,
      file: at < 8 ? `package-${at}/package-${at}.php` : `package-${at}`,
      title: `Package ${at}`,
      description: "",
      version: "1.0",
      isActive: at < 4,
      isAutoUpdated: false,
      updateUri: null,
    })),
  };
  const read = makeReadPackages({
    database,
    runtime: { packages: async (environments) => new Map(environments.map(({ id }) => [id, found])) },
  });
  await read(
    sleepers.map(({ id, number }) => ({ id, number })),
    new AbortController().signal,
  );
}

/** The youngest files are not trusted to have their final time. */
const settleMilliseconds = 1_500;

/** Stores when the events of all environments are due, as the control process does when it has read their databases. */
export async function noteEvents(data: string, sleepers: readonly Sleeper[]): Promise<void> {
  await delay(settleMilliseconds);
  const dueAt = Date.now() + yearSeconds * 1_000;
  const event = { hook: "wp_version_check", dueAt, recurrence: null, intervalSeconds: null, args: [] };
  const reader = createEventReader(join(data, "environments"), {
    file: join(data, "cron-events.json"),
    read: async ({ due }) => due.map(() => ({ sites: [{ place: null, events: [event] }], problem: null })),
  });
  await reader.next(sleepers, new AbortController().signal);
}
