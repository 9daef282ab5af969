/**
 * Control groups that divide processor time between the companies and the server.
 *
 * All processes that work for a company are in one group, so a company with many processes gets no more time than one with a single
 * process. Companies that use much processor time are in the background (`cpu.idle`): a process of the server that wakes up for a request runs at
 * once, and does not wait until a company's process has used up its time slice. That is some milliseconds for each wake-up, and a
 * request needs dozens.
 *
 * Quiet companies are in the foreground, where they get a part of the time even if requests of other companies keep the server's
 * own processes busy.
 *
 * With version 1 outside of a systemd service, other programs of the machine are next to these groups, and so are the threads of the system that write
 * to the disk. The server's processes come before them. Companies have at most the weight of one of them, unless other programs are busy:
 * those must not starve sites, while changes through the API wait for the disk several times.
 *
 * The edge has a group of its own with a larger weight: visitors' requests need little time, and should not wait for the server's
 * other processes.
 *
 * In a systemd service, the service's weight is what counts next to other programs.
 *
 * Only root can make control groups, and few containers allow it. Without them the priority of processes is the only means
 * (`pool/accounts.ts`).
 */
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { setTimeout } from "node:timers/promises";
import { isSystemdService, type Place, placeOf } from "./place.ts";

/** The folders of an installation's groups. */
export interface Groups {
  readonly version: Place["version"];
  /** These two have one group for each company that has processes there. */
  readonly background: string;
  readonly foreground: string;
  /**
   * For processes that work for no company, such as workers that are started in advance: in the background with the smallest weight,
   * because nobody waits for them.
   */
  readonly spares: string;
  readonly edge: string;
  /** For the server's other processes. */
  readonly services: string;
  /**
   * Where time is counted in a hierarchy of its own, as version 1 may do: has all processes of the installation, in one group for each
   * company. Null: the groups above count, if any do.
   */
  readonly counted: string | null;
}

/** The name of the spares' group, which no company can have. */
export const sparesName = "spares";

/**
 * Weights, relative to that of all the server's processes in `services`. `starved` is that of all companies of the background while they
 * are out of it, or always with kernels before 5.15, which have no background.
 */
export const weights = { starved: 1 / 5, foreground: 1 / 2, edge: 4, spares: 1 / 8 };

/**
 * What these weights are multiplied by with version 1, where a program next to the groups has the weight 1. Next to busy programs, even loud
 * companies need that of several, or sites would be starved.
 */
const factors = { nextToPrograms: { server: 40, companies: 40 }, alone: { server: 8, companies: 2 } };

/** Version 2 has nothing but these groups in the service's. */
const noFactors = { server: 1, companies: 1 };

/** How the groups share the processors with each other and with other programs. */
export interface Sharing {
  /** Whether loud companies' processes get only the time that the server leaves. False: at least a small part. */
  readonly isInBackground: boolean;
  /** Whether other programs use much of the machine. Only matters with version 1. */
  readonly areProgramsBusy: boolean;
}

/** The file that sets a group's weight, and the usual weight. */
const settings = { 1: ["cpu.shares", 1024], 2: ["cpu.weight", 100] } as const;

/** What the names of all groups of the installation with this data folder begin with. */
export function groupName(data: string): string {
  return `sitewright-${createHash("sha256").update(path.resolve(data)).digest("hex").slice(0, 12)}`;
}

/** The folder that contains the groups of the installation, as seen by a process at this place. */
function parentAt({ folder }: Place, data: string): string {
  const parts = folder.split(path.sep);
  const depth = parts.findIndex((part) => part.startsWith(groupName(data)));
  return depth === -1 ? folder : parts.slice(0, depth).join(path.sep);
}

/** The groups of the installation with this data folder, which may not exist, as seen by a process. Null if the machine has none. */
export function groupsOf(pid: number | "self", data: string): Groups | null {
  const place = placeOf(pid);
  return place === null ? null : groupsAt(place, data, placeOf(pid, "cpuacct"));
}

/** Like `groupsOf`, for a process at this place. `counting`: where its time is counted. */
export function groupsAt(place: Place, data: string, counting: Place | null = null): Groups {
  const countsElsewhere = counting?.version === 1 && place.version === 1 && counting.folder !== place.folder;
  const background = path.join(parentAt(place, data), groupName(data));
  return {
    version: place.version,
    background,
    spares: path.join(background, sparesName),
    foreground: `${background}-quiet`,
    edge: `${background}-edge`,
    services: `${background}-services`,
    counted: countsElsewhere ? path.join(parentAt(counting, data), groupName(data)) : null,
  };
}

/**
 * Makes the groups and returns their folders, or null if that is not possible here. This process moves to the group `services`, and so
 * do those that it starts later. With version 2 a group has either processes or groups, so all processes of this process's group
 * move; only a systemd service with `Delegate=cpu` allows it.
 */
export function openProcessorGroups(data: string): Groups | null {
  const place = placeOf("self");
  if (place === null) return null;
  const groups = groupsAt(place, data, placeOf("self", "cpuacct"));
  const { version, background, foreground, spares, edge, services, counted } = groups;
  try {
    if (version === 2) moveServices(place.folder, services);
    else {
      joinGroup(services);
      // Without it, processes that exist are counted.
      ignoreErrors(() => joinGroup(counted));
    }
    for (const folder of [background, foreground, edge]) {
      mkdirSync(folder, { recursive: true });
      if (version === 2 && folder !== edge) writeFileSync(path.join(folder, "cgroup.subtree_control"), "+cpu");
    }
    writeSharing(groups, { isInBackground: true, areProgramsBusy: true });
    mkdirSync(spares, { recursive: true });
    writeWeight(spares, version, weights.spares);
    if (version === 1) removeOlderGroups(groups);
    return groups;
  } catch {
    if (version === 1) leaveServices(groups);
    removeGroups(foldersOf(groups));
    return null;
  }
}

/**
 * Removes what an older version has left behind because it was killed. With version 1, it had all groups in one with the name that the
 * background has now: they would look like companies. What still runs there works for no company of this start.
 */
function removeOlderGroups({ background, spares }: Groups): void {
  const name = path.basename(background);
  for (const older of [name, `${name}-quiet`, `${name}-edge`, "services"]) {
    ignoreErrors(() => dissolve(path.join(background, older), spares));
  }
}

/** Removes a group with all groups in it, and moves their processes. Throws if there is no such group. */
function dissolve(group: string, target: string): void {
  for (const entry of readdirSync(group, { withFileTypes: true })) {
    if (entry.isDirectory()) dissolve(path.join(group, entry.name), target);
  }
  for (const pid of processesIn(group)) ignoreErrors(() => writeFileSync(path.join(target, "cgroup.procs"), pid));
  rmdirSync(group);
}

/** Makes a group, which null stands for none of, and moves this process there. With version 1, a group may have processes and groups. */
function joinGroup(group: string | null): void {
  if (group === null) return;
  mkdirSync(group, { recursive: true });
  writeFileSync(path.join(group, "cgroup.procs"), String(process.pid));
}

/** Moves the server's processes back to where the groups are: the guard of the firewall's rules outlives all others. */
function leaveServices({ services, counted }: Groups): void {
  for (const group of counted === null ? [services] : [services, counted]) {
    ignoreErrors(() => {
      for (const pid of processesIn(group)) {
        ignoreErrors(() => writeFileSync(path.join(path.dirname(group), "cgroup.procs"), pid));
      }
    });
  }
}

/** Returns the ids of the processes in the group. Throws if it doesn't exist. */
function processesIn(group: string): readonly string[] {
  return readFileSync(path.join(group, "cgroup.procs"), "utf8").split("\n").filter(Boolean);
}

function moveServices(folder: string, services: string): void {
  const controllers = readFileSync(path.join(folder, "cgroup.controllers"), "utf8").trim().split(" ");
  const pids = processesIn(folder);
  const isService = path.basename(folder).endsWith(".service") && isSystemdService();
  const own = ancestors();
  // Processes of others, such as those of a login, must stay where they are.
  if (!isService || !controllers.includes("cpu") || !pids.every((pid) => own.has(pid))) {
    throw new Error("Not a systemd service with Delegate=cpu");
  }
  mkdirSync(services, { recursive: true });
  for (const pid of pids) {
    ignoreErrors(() => writeFileSync(path.join(services, "cgroup.procs"), pid));
  }
  writeFileSync(path.join(folder, "cgroup.subtree_control"), "+cpu");
}

/** The ids of this process, its parent, and so on. */
function ancestors(): ReadonlySet<string> {
  const found = new Set<string>();
  for (let pid = String(process.pid); Number(pid) > 1 && !found.has(pid); ) {
    found.add(pid);
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    // The preceding name may contain anything, including brackets and spaces.
    pid = stat.slice(stat.lastIndexOf(")") + 2).split(" ")[1] ?? "";
  }
  return found;
}

/** How often, and how many milliseconds apart, to retry the removal of groups whose processes have just ended. */
export const closing = { attempts: 40, milliseconds: 25 };

/** Removes the groups, whose processes must have ended. Others may still use them, so errors are ignored. */
export async function closeProcessorGroups(data: string): Promise<void> {
  const groups = groupsOf("self", data);
  if (groups === null) return;
  for (let attempt = 0; foldersOf(groups).some(existsSync) && attempt < closing.attempts; attempt += 1) {
    // A process that has ended stays in its group for a moment.
    if (attempt > 0) await setTimeout(closing.milliseconds);
    if (groups.version === 1) leaveServices(groups);
    removeGroups(foldersOf(groups));
  }
}

/** The folders of all groups that this installation has made, inner ones first. */
function foldersOf({ version, background, foreground, spares, edge, services, counted }: Groups): readonly string[] {
  const more = counted === null ? [] : [counted];
  const ofCompanies = [background, foreground, ...more].flatMap((folder) =>
    companiesIn(folder).map((company) => path.join(folder, company)),
  );
  // With version 2, this process stays there until systemd removes it.
  const own = version === 1 ? [services] : [];
  return [...ofCompanies, ...more, spares, background, foreground, edge, ...own];
}

function removeGroups(groups: readonly string[]): void {
  for (const group of groups) ignoreErrors(() => rmdirSync(group));
}

/** Whether the installation whose supervisor has this process id divides processor time with control groups. */
export function hasProcessorGroups(data: string, pid: number): boolean {
  return existsSync(groupsOf(pid, data)?.background ?? "");
}

/** The companies that have a group in this folder. */
export function companiesIn(folder: string): readonly string[] {
  if (!existsSync(folder)) return [];
  const entries = readdirSync(folder, { withFileTypes: true }).filter((entry) => entry.isDirectory());
  return entries.map(({ name }) => name).filter((name) => name !== sparesName);
}

/** Gives the groups their weights, and moves the background's companies out of it or back. */
export function writeSharing(groups: Groups, { isInBackground, areProgramsBusy }: Sharing): void {
  const { version, background, foreground, services, edge } = groups;
  const isNextToPrograms = version === 1 && areProgramsBusy;
  const factor = version === 2 ? noFactors : factors[isNextToPrograms ? "nextToPrograms" : "alone"];
  writeWeight(services, version, factor.server);
  writeWeight(edge, version, weights.edge * factor.server);
  writeWeight(foreground, version, weights.foreground * factor.companies);
  const file = path.join(background, "cpu.idle");
  const hasBackground = existsSync(file);
  // With version 1, other programs would come before groups in the background.
  const isIdle = isInBackground && !isNextToPrograms;
  if (hasBackground) writeFileSync(file, isIdle ? "1" : "0");
  // In the background, a group has no weight to set.
  if (!hasBackground || !isIdle) writeWeight(background, version, weights.starved * factor.companies);
}

/** `weight`: relative to the usual one. */
export function writeWeight(group: string, version: Place["version"], weight: number): void {
  const [name, usual] = settings[version];
  writeFileSync(path.join(group, name), String(Math.round(usual * weight)));
}

/** Processes end, and other processes remove groups, at any time. */
export function ignoreErrors(change: () => void): void {
  try {
    change();
  } catch {
    // Nothing is left to change.
  }
}
