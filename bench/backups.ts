/**
 * Time and disk space of backups of an environment with 100 MB of files, compared with restic on the same files and
 * machine, and a restore with visitors. The two take turns at going first, because the second finds the files in the
 * system's cache.
 */
import { randomBytes, randomInt } from "node:crypto";
import { mkdir, realpath, utimes, writeFile } from "node:fs/promises";
import { Agent } from "node:http";
import { join } from "node:path";
import { send } from "@sitewright/e2e/http.ts";
import type { Installation } from "@sitewright/e2e/installation.ts";
import { type CreatedSite, createSite } from "@sitewright/e2e/sites.ts";
import { all, carryOut, megabyte, noErrors, type Visits, withVisitors } from "./environments.ts";
import { folderBytes } from "./folderBytes.ts";
import { withManyBackups } from "./manyBackups.ts";
import { atMost, atMostBytes, duration, type Figure, megabytes } from "./report.ts";
import { openRestic, type Restic, resticInstallHint } from "./restic.ts";
import { median, percentile, timed } from "./statistics.ts";
import { stepMilliseconds } from "./steps.ts";

const rounds = 4;
const pictures = { count: 160, bytes: megabyte / 2 };
const texts = { count: 2_000, bytes: megabyte / 100 };
const listLength = 1_000;
const listRequests = 500;

function folderOf(installation: Installation, site: CreatedSite): string {
  return join(installation.data, "environments", site.environmentId, "current");
}

const releaseOf = (installation: Installation, site: CreatedSite) => realpath(folderOf(installation, site));

function uploadsOf(installation: Installation, site: CreatedSite): string {
  return join(folderOf(installation, site), "public/wp-content/uploads/bench");
}

const words = Array.from({ length: 2_000 }, () => randomBytes(randomInt(1, 6)).toString("hex"));

function prose(bytes: number): string {
  let text = "";
  while (text.length < bytes) text += `${words[randomInt(words.length)]} `;
  return text.slice(0, bytes);
}

/** Sets the time of change to an hour ago. Files that are newer than a backup are read again by the next one. */
async function writeOld(file: string, content: string | Buffer): Promise<void> {
  await writeFile(file, content);
  const anHourAgo = new Date(Date.now() - 3_600_000);
  await utimes(file, anHourAgo, anHourAgo);
}

/** Writes 80 MB of incompressible files, and 20 MB of many small text files. */
async function fill(uploads: string): Promise<void> {
  await mkdir(uploads, { recursive: true });
  for (let at = 0; at < pictures.count; at += 1) {
    await writeOld(join(uploads, `${at}.jpg`), randomBytes(pictures.bytes));
  }
  for (let at = 0; at < texts.count; at += 1) await writeOld(join(uploads, `${at}.txt`), prose(texts.bytes));
}

interface BackupCost {
  readonly milliseconds: number;
  readonly addedBytes: number;
}

async function backUp(installation: Installation, { environmentId }: CreatedSite): Promise<BackupCost> {
  const archives = join(installation.data, "archives");
  const before = await folderBytes(archives);
  const path = `/sites/environments/${environmentId}/manual-backups`;
  const { milliseconds } = await timed(() => carryOut(installation, "POST", path, {}));
  return { milliseconds, addedBytes: (await folderBytes(archives)) - before };
}

interface ListedBackups {
  readonly environment: { readonly backups: readonly { readonly id: number }[] };
}

function requestList({ firstRun }: Installation, { environmentId }: CreatedSite, agent?: Agent) {
  const address = `${firstRun.api_url}/sites/environments/${environmentId}/backups`;
  return send("GET", address, { key: firstRun.api_key, ...(agent && { agent }) });
}

/** Ids, newest first. */
async function list(installation: Installation, site: CreatedSite): Promise<readonly number[]> {
  const answer = await requestList(installation, site);
  if (answer.status !== 200) throw new Error(`The list of backups answered ${answer.status}: ${answer.text}`);
  return answer.json<ListedBackups>().environment.backups.map(({ id }) => id);
}

/** A measurement of Sitewright and of restic, or null if restic is not installed. */
interface Comparison {
  readonly ours: number;
  readonly restic: number | null;
}

interface Round {
  readonly site: CreatedSite;
  readonly first: Comparison;
  readonly firstAdded: Comparison;
  readonly second: Comparison;
  readonly secondAdded: Comparison;
  /** Reading the backup from the archives to disk, without visitors. */
  readonly fetch: Comparison;
  readonly restoreMilliseconds: number;
  readonly visits: Visits;
}

interface Machine {
  readonly installation: Installation;
  readonly restic: Restic | null;
  /** Resolves when the machine is idle. */
  ready(): Promise<void>;
}

/** Backs up the environment with both, one after the other, each on an idle machine. */
async function backUpBoth({ installation, restic, ready }: Machine, site: CreatedSite, isOursFirst: boolean) {
  const backUpWithRestic = async () => {
    await ready();
    return (await restic?.backUp(await releaseOf(installation, site))) ?? null;
  };
  const before = isOursFirst ? null : await backUpWithRestic();
  await ready();
  const ours = await backUp(installation, site);
  const theirs = before ?? (await backUpWithRestic());
  return {
    time: { ours: ours.milliseconds, restic: theirs?.milliseconds ?? null },
    added: { ours: ours.addedBytes, restic: theirs?.addedBytes ?? null },
  };
}

interface FetchOptions {
  readonly backupId: number;
  readonly isOursFirst: boolean;
}

/** Reads the backup back with both. For ours that is one step of a restore; the other steps are not counted. */
async function fetchBoth(
  { installation, restic, ready }: Machine,
  site: CreatedSite,
  { backupId, isOursFirst }: FetchOptions,
) {
  const release = await releaseOf(installation, site);
  const fetchWithRestic = async () => {
    await ready();
    return (await restic?.restore(release)) ?? null;
  };
  const before = isOursFirst ? null : await fetchWithRestic();
  await ready();
  const { operationId } = await restore(installation, site, backupId);
  const ours = await stepMilliseconds(installation.data, operationId, "stage");
  return { ours, restic: before ?? (await fetchWithRestic()) };
}

function restore(installation: Installation, { environmentId }: CreatedSite, backup_id: number) {
  return carryOut(installation, "POST", `/sites/environments/${environmentId}/backups/restore`, { backup_id });
}

/** Fills a new site, backs it up, changes one file, backs it up again, and restores the first backup. */
async function measureRound(machine: Machine, round: number): Promise<Round> {
  const { installation, ready } = machine;
  const name = `Backed up ${round}`;
  const isOursFirst = round % 2 === 1;
  const site = await createSite(installation, { display_name: name, site_title: name });
  const uploads = uploadsOf(installation, site);
  await fill(uploads);
  const first = await backUpBoth(machine, site, isOursFirst);
  await writeOld(join(uploads, "0.jpg"), randomBytes(pictures.bytes));
  const second = await backUpBoth(machine, site, isOursFirst);
  const [, backupId] = await list(installation, site);
  if (backupId === undefined) throw new Error("There is no backup to restore");
  const fetch = await fetchBoth(machine, site, { backupId, isOursFirst });
  await ready();
  const restored = await withVisitors(installation, site.address, () => restore(installation, site, backupId));
  return {
    site,
    first: first.time,
    firstAdded: first.added,
    second: second.time,
    secondAdded: second.added,
    fetch,
    restoreMilliseconds: restored.milliseconds,
    visits: restored.visits,
  };
}

async function measureList(installation: Installation, site: CreatedSite): Promise<Figure> {
  const [newest] = await list(installation, site);
  if (newest === undefined) throw new Error("There is no backup to copy");
  // One connection for all requests, as in a program that polls.
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  return withManyBackups(installation.data, newest, listLength, async () => {
    const times: number[] = [];
    for (let count = 0; count < listRequests; count += 1) {
      const { milliseconds, value } = await timed(() => requestList(installation, site, agent));
      const { length } = value.json<ListedBackups>().environment.backups;
      if (length < listLength) throw new Error(`Only ${length} backups were listed`);
      times.push(milliseconds);
    }
    agent.destroy();
    const name = `list of ${listLength} backups, p99 of ${listRequests}`;
    return atMost(name, percentile(times, 0.99), 20, `p50: ${duration(median(times))}`);
  });
}

function medians(results: readonly Round[], select: (round: Round) => Comparison): Comparison {
  const restic = results.flatMap((round) => select(round).restic ?? []);
  const ours = median(results.map((round) => select(round).ours));
  return { ours, restic: restic.length === 0 ? null : median(restic) };
}

/** Runs all measurements on new sites. `ready` resolves when the machine is idle. */
export async function measureBackups(installation: Installation, ready: () => Promise<void>): Promise<Figure[]> {
  await using restic = await openRestic();
  const machine = { installation, restic, ready };
  // Real archives are never empty: a first backup of any site stores the files that all WordPress sites share.
  await backUpBoth(machine, await createSite(installation, { display_name: "Usual", site_title: "Usual" }), true);
  const results: Round[] = [];
  for (let round = 1; round <= rounds; round += 1) results.push(await measureRound(machine, round));

  const reference = (theirs: number | null, show: (value: number) => string) =>
    restic === null || theirs === null ? resticInstallHint : `${restic.version}: ${show(theirs)}`;
  /** The default target is restic's figure, if there is one. */
  const time = (name: string, select: (round: Round) => Comparison, target?: number) => {
    const { ours, restic: theirs } = medians(results, select);
    return atMost(`${name}, median of ${rounds}`, ours, target ?? theirs ?? Infinity, reference(theirs, duration));
  };
  const size = (name: string, select: (round: Round) => Comparison, target?: number) => {
    const { ours, restic: theirs } = medians(results, select);
    const limit = target ?? theirs ?? Infinity;
    return atMostBytes(`${name}: growth of the archives`, ours, limit, reference(theirs, megabytes));
  };
  await ready();
  const [{ site } = { site: null }] = results;
  return [
    time("first backup of 100 MB", ({ first }) => first),
    size("first backup of 100 MB", ({ firstAdded }) => firstAdded),
    time("second backup of 100 MB, one file of 0.5 MB changed", ({ second }) => second, 2_000),
    size("second backup, one file of 0.5 MB changed", ({ secondAdded }) => secondAdded, megabyte),
    time("100 MB read back from the archives, the first step of a restore", ({ fetch }) => fetch),
    atMost(
      `restore of 100 MB with visitors, median of ${rounds}`,
      median(results.map(({ restoreMilliseconds }) => restoreMilliseconds)),
      10_000,
      "including backup, trial and switch",
    ),
    noErrors("restore of 100 MB", all(results.map(({ visits }) => visits))),
    ...(site === null ? [] : [await measureList(installation, site)]),
  ];
}
