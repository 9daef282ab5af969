/**
 * What backups of an environment with 100 MB of files cost, in time and on the disk, and going back to one under visitors:
 * beside restic, which backs the same files up on the same machine. Each is the first in every other round: who comes second
 * finds the files in the system's memory, and written to the disk.
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
import { howToGetRestic, openRestic, type Restic } from "./restic.ts";
import { median, percentile, timed } from "./statistics.ts";
import { stepMilliseconds } from "./steps.ts";

const rounds = 4;
const pictures = { count: 160, bytes: megabyte / 2 };
const texts = { count: 2_000, bytes: megabyte / 100 };
const listed = 1_000;
const listings = 500;

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

/** An hour old, as a site's files are: what was written a moment before a backup is read again for the next one. */
async function writeOld(file: string, content: string | Buffer): Promise<void> {
  await writeFile(file, content);
  const then = new Date(Date.now() - 3_600_000);
  await utimes(file, then, then);
}

/** 80 MB that no compression makes smaller, and 20 MB of texts, of which most files are. */
async function fill(uploads: string): Promise<void> {
  await mkdir(uploads, { recursive: true });
  for (let at = 0; at < pictures.count; at += 1) {
    await writeOld(join(uploads, `${at}.jpg`), randomBytes(pictures.bytes));
  }
  for (let at = 0; at < texts.count; at += 1) await writeOld(join(uploads, `${at}.txt`), prose(texts.bytes));
}

interface Taken {
  readonly milliseconds: number;
  readonly addedBytes: number;
}

async function backUp(installation: Installation, { environmentId }: CreatedSite): Promise<Taken> {
  const archives = join(installation.data, "archives");
  const before = await folderBytes(archives);
  const path = `/sites/environments/${environmentId}/manual-backups`;
  const { milliseconds } = await timed(() => carryOut(installation, "POST", path, {}));
  return { milliseconds, addedBytes: (await folderBytes(archives)) - before };
}

interface ListedBackups {
  readonly environment: { readonly backups: readonly { readonly id: number }[] };
}

function askForList({ firstRun }: Installation, { environmentId }: CreatedSite, agent?: Agent) {
  const address = `${firstRun.api_url}/sites/environments/${environmentId}/backups`;
  return send("GET", address, { key: firstRun.api_key, ...(agent && { agent }) });
}

/** Ids, the newest first. */
async function list(installation: Installation, site: CreatedSite): Promise<readonly number[]> {
  const answer = await askForList(installation, site);
  if (answer.status !== 200) throw new Error(`The list of backups answered ${answer.status}: ${answer.text}`);
  return answer.json<ListedBackups>().environment.backups.map(({ id }) => id);
}

/** The same, measured of us and, where the machine has it, of restic. */
interface Beside {
  readonly ours: number;
  readonly restic: number | null;
}

interface Round {
  readonly site: CreatedSite;
  readonly first: Beside;
  readonly firstAdded: Beside;
  readonly again: Beside;
  readonly againAdded: Beside;
  /** From the archives to the disk, as long as nobody visits the site. */
  readonly fetch: Beside;
  readonly restoreMilliseconds: number;
  readonly visits: Visits;
}

interface Machine {
  readonly installation: Installation;
  readonly restic: Restic | null;
  /** Resolves when the machine is at rest. */
  ready(): Promise<void>;
}

/** Both back the environment up, one after the other, each when the machine is at rest. */
async function backUpBoth({ installation, restic, ready }: Machine, site: CreatedSite, isOursFirst: boolean) {
  const backUpByRestic = async () => {
    await ready();
    return (await restic?.backUp(await releaseOf(installation, site))) ?? null;
  };
  const before = isOursFirst ? null : await backUpByRestic();
  await ready();
  const ours = await backUp(installation, site);
  const theirs = before ?? (await backUpByRestic());
  return {
    time: { ours: ours.milliseconds, restic: theirs?.milliseconds ?? null },
    added: { ours: ours.addedBytes, restic: theirs?.addedBytes ?? null },
  };
}

interface Restoring {
  /** What is restored. */
  readonly backupId: number;
  readonly isOursFirst: boolean;
}

/** Both bring everything back from where it is kept; for ours it is a step of a restore, and what follows it is no part of this. */
async function fetchBoth(
  { installation, restic, ready }: Machine,
  site: CreatedSite,
  { backupId, isOursFirst }: Restoring,
) {
  const release = await releaseOf(installation, site);
  const fetchByRestic = async () => {
    await ready();
    return (await restic?.restore(release)) ?? null;
  };
  const before = isOursFirst ? null : await fetchByRestic();
  await ready();
  const { operationId } = await restore(installation, site, backupId);
  const ours = await stepMilliseconds(installation.data, operationId, "stage");
  return { ours, restic: before ?? (await fetchByRestic()) };
}

function restore(installation: Installation, { environmentId }: CreatedSite, backup_id: number) {
  return carryOut(installation, "POST", `/sites/environments/${environmentId}/backups/restore`, { backup_id });
}

/** A site that is filled, backed up, changed in one file, backed up again, and restored to what it was before that. */
async function measureRound(machine: Machine, round: number): Promise<Round> {
  const { installation, ready } = machine;
  const name = `Kept ${round}`;
  const isOursFirst = round % 2 === 1;
  const site = await createSite(installation, { display_name: name, site_title: name });
  const uploads = uploadsOf(installation, site);
  await fill(uploads);
  const first = await backUpBoth(machine, site, isOursFirst);
  await writeOld(join(uploads, "0.jpg"), randomBytes(pictures.bytes));
  const again = await backUpBoth(machine, site, isOursFirst);
  const [, backupId] = await list(installation, site);
  if (backupId === undefined) throw new Error("There is no backup to be restored");
  const fetch = await fetchBoth(machine, site, { backupId, isOursFirst });
  await ready();
  const restored = await withVisitors(installation, site.address, () => restore(installation, site, backupId));
  return {
    site,
    first: first.time,
    firstAdded: first.added,
    again: again.time,
    againAdded: again.added,
    fetch,
    restoreMilliseconds: restored.milliseconds,
    visits: restored.visits,
  };
}

async function measureList(installation: Installation, site: CreatedSite): Promise<Figure> {
  const [newest] = await list(installation, site);
  if (newest === undefined) throw new Error("There is no backup to be copied");
  // One connection for all, as programs have that ask again and again.
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  return withManyBackups(installation.data, newest, listed, async () => {
    const times: number[] = [];
    for (let count = 0; count < listings; count += 1) {
      const { milliseconds, value } = await timed(() => askForList(installation, site, agent));
      const { length } = value.json<ListedBackups>().environment.backups;
      if (length < listed) throw new Error(`Only ${length} backups were listed`);
      times.push(milliseconds);
    }
    agent.destroy();
    const name = `the list of ${listed} backups, p99 of ${listings}`;
    return atMost(name, percentile(times, 0.99), 20, `p50: ${duration(median(times))}`);
  });
}

function medians(made: readonly Round[], of: (round: Round) => Beside): Beside {
  const restic = made.flatMap((round) => of(round).restic ?? []);
  return { ours: median(made.map((round) => of(round).ours)), restic: restic.length === 0 ? null : median(restic) };
}

/** All of it, on sites made for it. `ready` resolves when the machine is at rest. */
export async function measureBackups(installation: Installation, ready: () => Promise<void>): Promise<Figure[]> {
  await using restic = await openRestic();
  const machine = { installation, restic, ready };
  // Real archives are never empty: both contain what every WordPress has.
  await backUpBoth(machine, await createSite(installation, { display_name: "Usual", site_title: "Usual" }), true);
  const made: Round[] = [];
  for (let round = 1; round <= rounds; round += 1) made.push(await measureRound(machine, round));

  const said = (theirs: number | null, show: (value: number) => string) =>
    restic === null || theirs === null ? howToGetRestic : `${restic.version}: ${show(theirs)}`;
  /** Where no target is given it is restic's figure, if there is one. */
  const time = (name: string, of: (round: Round) => Beside, target?: number) => {
    const { ours, restic: theirs } = medians(made, of);
    return atMost(`${name}, median of ${rounds}`, ours, target ?? theirs ?? Infinity, said(theirs, duration));
  };
  const size = (name: string, of: (round: Round) => Beside, target?: number) => {
    const { ours, restic: theirs } = medians(made, of);
    return atMostBytes(`${name}: the archives grow by`, ours, target ?? theirs ?? Infinity, said(theirs, megabytes));
  };
  await ready();
  const [{ site } = { site: null }] = made;
  return [
    time("first backup of 100 MB", ({ first }) => first),
    size("first backup of 100 MB", ({ firstAdded }) => firstAdded),
    time("backup of 100 MB of which a file of 0.5 MB was changed", ({ again }) => again, 2_000),
    size("backup when one file was changed", ({ againAdded }) => againAdded, megabyte),
    time("100 MB from the archives to the disk, as the first step of a restore", ({ fetch }) => fetch),
    atMost(
      `restore of 100 MB with visitors, median of ${rounds}`,
      median(made.map(({ restoreMilliseconds }) => restoreMilliseconds)),
      10_000,
      "backed up before, tried out, switched to",
    ),
    noErrors("restore of 100 MB", all(made.map(({ visits }) => visits))),
    ...(site === null ? [] : [await measureList(installation, site)]),
  ];
}
