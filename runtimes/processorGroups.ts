/**
 * Divides processor time between companies with the system's control groups: all processes that work for a company are in one
 * group, so a company with many processes gets no more time than one with a single process.
 *
 * The companies' groups are in a common one, which the system runs in the background (`cpu.idle`): a process of the server that
 * wakes up for a request runs at once, and does not wait until a company's process has used up its time slice. That is some
 * milliseconds for each wake-up, and a request needs dozens. Processes of companies get all the time that the server leaves.
 *
 * The edge has a group of its own with a larger weight: visitors' requests need little time, and should not wait for the server's
 * other processes, which one company's API requests can keep busy.
 *
 * Only root can make control groups, and few containers allow it. Without them the priority of processes is the only means
 * (`playground/pool/companyLoads.ts`).
 */
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmdirSync, writeFileSync } from "node:fs";
import { mkdir, rmdir, writeFile } from "node:fs/promises";
import path from "node:path";

/** Where a process is in the hierarchy of groups that divides processor time. */
interface Place {
  readonly version: 1 | 2;
  readonly folder: string;
}

const servicesName = "services";

/**
 * Finds the place of a process. `groups`: its `/proc/<pid>/cgroup`; `mounts`: `/proc/self/mountinfo`. Null if processor time is not
 * divided by control groups.
 */
export function placeIn(groups: string, mounts: string): Place | null {
  const own = groups.split("\n").map((line) => line.split(":"));
  const paths = {
    1: own
      .find(([, controllers = ""]) => controllers.split(",").includes("cpu"))
      ?.slice(2)
      .join(":"),
    2: own
      .find(([number, controllers]) => number === "0" && controllers === "")
      ?.slice(2)
      .join(":"),
  };
  for (const line of mounts.split("\n")) {
    const [left = "", right = ""] = line.split(" - ");
    const [, , , root = "/", point = ""] = left.split(" ");
    const [type, , options = ""] = right.split(" ");
    const version = type === "cgroup" && options.split(",").includes("cpu") ? 1 : type === "cgroup2" ? 2 : null;
    const found = version === null ? undefined : paths[version];
    // If both versions are mounted, the processor belongs to the first.
    if (version === null || found === undefined || (version === 2 && paths[1] !== undefined)) continue;
    const isWhole = root === "/";
    if (isWhole || found.startsWith(root)) {
      return { version, folder: path.resolve(point, `./${isWhole ? found : found.slice(root.length)}`) };
    }
  }
  return null;
}

function placeOf(pid: number | "self"): Place | null {
  try {
    return placeIn(readFileSync(`/proc/${pid}/cgroup`, "utf8"), readFileSync("/proc/self/mountinfo", "utf8"));
  } catch {
    return null;
  }
}

/** The folder of the companies' groups of the installation with this data folder. */
function groupsFolder({ version, folder }: Place, data: string): string {
  const name = `sitewright-${createHash("sha256").update(path.resolve(data)).digest("hex").slice(0, 12)}`;
  const isMoved = version === 2 && path.basename(folder) === servicesName;
  return path.join(isMoved ? path.dirname(folder) : folder, name);
}

/**
 * Makes the group of all companies and returns its folder, or null if that is not possible here. With version 2 a group has either processes or
 * groups, so the processes of this process's group move to one of their own; only a systemd service with `Delegate=cpu` allows it.
 */
export function openProcessorGroups(data: string): string | null {
  const place = placeOf("self");
  if (place === null) return null;
  const folder = groupsFolder(place, data);
  try {
    if (place.version === 2) moveServices(place.folder);
    mkdirSync(folder, { recursive: true });
    if (place.version === 2) writeFileSync(path.join(folder, "cgroup.subtree_control"), "+cpu");
    writeBackground({ version: place.version, folder }, true);
    mkdirSync(edgeGroup(folder), { recursive: true });
    writeWeight(edgeGroup(folder), place.version, edgeWeight);
    mkdirSync(path.join(folder, sparesName), { recursive: true });
    writeWeight(path.join(folder, sparesName), place.version, sparesWeight);
    return folder;
  } catch {
    for (const group of [path.join(folder, sparesName), folder, edgeGroup(folder)]) tryTo(() => rmdirSync(group));
    return null;
  }
}

function moveServices(folder: string): void {
  const controllers = readFileSync(path.join(folder, "cgroup.controllers"), "utf8").trim().split(" ");
  const pids = readFileSync(path.join(folder, "cgroup.procs"), "utf8").split("\n").filter(Boolean);
  const isService = path.basename(folder).endsWith(".service") && process.env.SYSTEMD_EXEC_PID !== undefined;
  const own = ancestors();
  // Processes of others, such as those of a login, must stay where they are.
  if (!isService || !controllers.includes("cpu") || !pids.every((pid) => own.has(pid))) {
    throw new Error("Not a systemd service with Delegate=cpu");
  }
  const services = path.join(folder, servicesName);
  mkdirSync(services, { recursive: true });
  for (const pid of pids) {
    tryTo(() => writeFileSync(path.join(services, "cgroup.procs"), pid));
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

/** The edge's group. It is not among the companies' groups, which may be in the background. */
function edgeGroup(folder: string): string {
  return `${folder}-edge`;
}

/** The group, among those of companies, of workers that are started in advance. It has the smallest weight: nobody waits for them. */
const sparesName = "spares";
const sparesWeight = 1 / 8;

/** Removes the groups of all companies, whose processes must have ended. Others may still use them, so errors are ignored. */
export function closeProcessorGroups(data: string): void {
  const place = placeOf("self");
  if (place === null) return;
  const folder = groupsFolder(place, data);
  const spares = path.join(folder, sparesName);
  for (const group of [...companyGroups(folder), spares, folder, edgeGroup(folder)]) tryTo(() => rmdirSync(group));
}

function companyGroups(folder: string): readonly string[] {
  if (!existsSync(folder)) return [];
  const entries = readdirSync(folder, { withFileTypes: true }).filter((entry) => entry.isDirectory());
  return entries.flatMap(({ name }) => (name === sparesName ? [] : [path.join(folder, name)]));
}

/** Ignores errors: processes end, and other processes remove groups, at any time. */
function tryTo(change: () => void): void {
  try {
    change();
  } catch {
    // Nothing is left to change.
  }
}

/**
 * The weight of all companies outside the background, as a part of that of one of the server's processes, or with version 2 of all of
 * them.
 */
const foregroundWeight = 1 / 5;
/** The weight of the edge, relative to that of one of the server's other processes, or with version 2 of all of them. */
const edgeWeight = 4;
/** The file that sets a group's weight, and the usual weight. */
const settings = { 1: ["cpu.shares", 1024], 2: ["cpu.weight", 100] } as const;

/** Kernels before 5.15 have no background; companies then always have the lower weight. */
function writeBackground({ version, folder }: Place, isBackground: boolean): void {
  const file = path.join(folder, "cpu.idle");
  if (existsSync(file)) writeFileSync(file, isBackground ? "1" : "0");
  // In the background, a group has no weight to set.
  if (isBackground && existsSync(file)) return;
  writeWeight(folder, version, foregroundWeight);
}

/** `weight`: relative to the usual one. */
function writeWeight(group: string, version: Place["version"], weight: number): void {
  const [name, usual] = settings[version];
  writeFileSync(path.join(group, name), String(Math.round(usual * weight)));
}

interface Groups extends Place {
  /** Null until it was set: an earlier edge may have left it either way. */
  isInBackground: boolean | null;
  /** Of companies, relative to the usual weight. Absent: not set. */
  weights: ReadonlyMap<string, number>;
  /** The group of the server's processes. */
  readonly services: string;
  /** Whether this process is in the edge's group, and so are processes that it starts. */
  isEdge: boolean;
}

let current: Groups | null = null;

/** Makes the functions below use the groups of this installation, if the supervisor could make them. Call it at startup. */
export function useProcessorGroups(data: string): void {
  const place = placeOf("self");
  if (place === null) return;
  const { version, folder: services } = place;
  const folder = groupsFolder(place, data);
  if (!existsSync(folder)) return;
  current = { version, folder, services, isInBackground: null, weights: new Map(), isEdge: false };
}

/** Whether the installation whose supervisor has this process id divides processor time with control groups. */
export function hasProcessorGroups(data: string, pid: number): boolean {
  const place = placeOf(pid);
  return place !== null && existsSync(groupsFolder(place, data));
}

/** Makes this process the edge. Call after `useProcessorGroups`. */
export function joinEdgeGroup(): void {
  const groups = current;
  if (groups === null) return;
  tryTo(() => {
    writeFileSync(path.join(edgeGroup(groups.folder), "cgroup.procs"), String(process.pid));
    groups.isEdge = true;
  });
}

/**
 * Moves a process that has just been started to the group of its company. Processes that it starts follow. Ignores a process that
 * has ended.
 */
export function shareProcessor(company: string, pid: number | undefined): void {
  if (current === null || pid === undefined) return;
  const { folder, services } = current;
  // The edge's group would give it much more time.
  moveInOrder(pid, () => move(path.join(folder, company), pid).catch(() => move(services, pid)));
}

/** Moves a worker that is started in advance to the group of those, until it gets a company. */
export function runAsSpare(pid: number): void {
  shareProcessor(sparesName, pid);
}

/** Moves a process that works for the server, and was started by the edge, out of the edge's group. */
export function leaveEdgeGroup(pid: number | undefined): void {
  if (current === null || !current.isEdge || pid === undefined) return;
  const { services } = current;
  moveInOrder(pid, () => move(services, pid));
}

const moving = new Map<number, Promise<void>>();

/** A worker may get its company while it is still on its way to another group. */
function moveInOrder(pid: number, change: () => Promise<void>): void {
  const earlier = moving.get(pid) ?? Promise.resolve();
  const moved = earlier.then(change).catch(() => undefined);
  moving.set(pid, moved);
  void moved.then(() => moving.get(pid) === moved && moving.delete(pid));
}

/** Not synchronously: the system may take milliseconds. Another process may remove an empty group at any time. */
async function move(group: string, pid: number, attempts = 3): Promise<void> {
  await mkdir(group, { recursive: true });
  try {
    await writeFile(path.join(group, "cgroup.procs"), String(pid));
  } catch (error) {
    if (attempts <= 1) throw error;
    await move(group, pid, attempts - 1);
  }
}

/** Whether the companies' processes get only the time that the server leaves. False: at least a small part. */
export function runInBackground(isBackground: boolean): void {
  const groups = current;
  if (groups === null || groups.isInBackground === isBackground) return;
  groups.isInBackground = isBackground;
  tryTo(() => writeBackground(groups, isBackground));
}

/**
 * Sets the weights of companies' groups, which divide the processor time of all companies between them. `weights`: by company, relative
 * to the usual weight.
 */
export function weighCompanies(weights: ReadonlyMap<string, number>): void {
  if (current === null) return;
  const { version, folder, weights: before } = current;
  for (const [company, weight] of weights) {
    if (before.get(company) !== weight) tryTo(() => writeWeight(path.join(folder, company), version, weight));
  }
  current.weights = weights;
}

/** Returns the ids of the processes of each company that has a group. */
export function companyProcesses(): ReadonlyMap<string, readonly number[]> {
  if (current === null) return new Map();
  return new Map(companyGroups(current.folder).map((group) => [path.basename(group), processesOf(group)]));
}

function processesOf(group: string): readonly number[] {
  try {
    return readFileSync(path.join(group, "cgroup.procs"), "utf8").split("\n").filter(Boolean).map(Number);
  } catch {
    // Another process has removed the empty group.
    return [];
  }
}

/** Removes the groups of companies that have no processes. */
export async function removeEmptyGroups(): Promise<void> {
  if (current === null) return;
  await Promise.all(companyGroups(current.folder).map((group) => rmdir(group).catch(() => undefined)));
  // A group that is made again has the usual weight.
  current.weights = new Map();
}
