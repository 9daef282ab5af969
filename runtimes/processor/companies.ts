/** Puts processes into the control groups of their companies (`groups.ts`), counts their time, and sets what part of it they get. */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { mkdir, rmdir, writeFile } from "node:fs/promises";
import path from "node:path";
import { isDeepStrictEqual } from "node:util";
import { environmentCompanies, type GroupEntry, removeEmptyEnvironmentGroups } from "./environments.ts";
import { companiesIn, type Groups, groupsOf, ignoreErrors, type Sharing, writeSharing, writeWeight } from "./groups.ts";
import { type CompanyTimes, timeOfGroup, timeOfProcess, type UsedTime } from "./times.ts";

interface Current extends Groups {
  /** Null until it was set: an earlier edge may have left it either way. */
  sharing: Sharing | null;
  /** Of companies, relative to the usual weight. Absent: not set. */
  weights: ReadonlyMap<string, number>;
  /** Whether this process is in the edge's group, and so are processes that it starts. */
  isEdge: boolean;
  /** Companies in the background. */
  loud: ReadonlySet<string>;
  /** What groups had counted until they were removed, which may be more than at the last reading. */
  removed: readonly RemovedGroup[];
}

interface RemovedGroup {
  readonly company: string;
  readonly time: UsedTime;
  readonly at: number;
}

/** Much longer than between two readings. */
const removedMilliseconds = 60_000;

let current: Current | null = null;
let usedData: string | null = null;

/** Makes the functions below use the groups of this installation, if the supervisor could make them. Call it at startup. */
export function useProcessorGroups(data: string): void {
  current = null;
  usedData = data;
  const groups = groupsOf("self", data);
  if (groups === null || !existsSync(groups.background)) return;
  const counted = groups.counted !== null && existsSync(groups.counted) ? groups.counted : null;
  const started = { sharing: null, weights: new Map(), isEdge: false, loud: new Set<string>(), removed: [] };
  current = { ...groups, counted, ...started };
}

/** The data folder that `useProcessorGroups` got, for a process that this one starts; null: none. */
export function processorGroups(): string | null {
  return usedData;
}

/** Whether control groups divide processor time between companies. */
export function companiesHaveGroups(): boolean {
  return current !== null;
}

/** Makes this process the edge. Call after `useProcessorGroups`. */
export function joinEdgeGroup(): void {
  const groups = current;
  if (groups === null) return;
  ignoreErrors(() => {
    writeFileSync(path.join(groups.edge, "cgroup.procs"), String(process.pid));
    groups.isEdge = true;
  });
}

/**
 * Moves a process that has just been started to the group of its company. Processes that it starts follow. Ignores a process that
 * has ended.
 */
export function shareProcessor(company: string, pid: number | undefined): void {
  if (current === null || pid === undefined) return;
  const groups = current;
  void moveInOrder(pid, () => join(company, pid, groups));
}

async function join(company: string, pid: number, groups: Groups): Promise<void> {
  // The edge's group would give it much more time.
  await move(groupFor(company, groups), pid).catch(() => move(groups.services, pid));
  if (groups.counted !== null) await move(path.join(groups.counted, company), pid);
}

/** What a process has to write to join the group of its company before it starts others. Empty if there are no groups. */
export function companyEntries(company: string): readonly GroupEntry[] {
  // With its environment's group, it joins a company's group there.
  if (current === null || environmentCompanies() !== null || !existsSync(current.foreground)) return [];
  const counted = current.counted === null ? [] : [path.join(current.counted, company)];
  return [groupFor(company, current), ...counted].map((folder) => ({ folder, file: "cgroup.procs", value: "0" }));
}

function groupFor(company: string, { background, foreground }: Groups): string {
  const isLoud = existsSync(path.join(background, company));
  return path.join(isLoud ? background : foreground, company);
}

/** Moves a process that has just been started, and works for no company (yet), to the group of those. */
export function runAsSpare(pid: number | undefined): void {
  if (current === null || pid === undefined) return;
  const { spares, services } = current;
  void moveInOrder(pid, () => move(spares, pid).catch(() => move(services, pid)));
}

/** Moves a process that works for the server, and was started by the edge, out of the edge's group. */
export function leaveEdgeGroup(pid: number | undefined): void {
  if (current === null || !current.isEdge || pid === undefined) return;
  const { services } = current;
  void moveInOrder(pid, () => move(services, pid));
}

const moving = new Map<number, Promise<void>>();

/** A worker may get its company while it is still on its way to another group. */
async function moveInOrder(pid: number, change: () => Promise<void>): Promise<void> {
  const earlier = moving.get(pid) ?? Promise.resolve();
  const moved = earlier.then(change).catch(() => undefined);
  moving.set(pid, moved);
  await moved;
  if (moving.get(pid) === moved) moving.delete(pid);
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

/** Sets how companies share the processors with the server and with other programs. */
export function shareWithOthers(sharing: Sharing): void {
  const groups = current;
  if (groups === null || isDeepStrictEqual(groups.sharing, sharing)) return;
  ignoreErrors(() => {
    writeSharing(groups, sharing);
    groups.sharing = sharing;
  });
}

/** Moves all processes of loud companies to the background, and those of all others to the foreground. */
export async function separateLoudCompanies(loud: ReadonlySet<string>): Promise<void> {
  if (current === null) return;
  const { background, foreground } = current;
  current.loud = loud;
  idleWithEnvironments(loud);
  const toBackground = companiesIn(foreground).filter((company) => loud.has(company));
  const toForeground = companiesIn(background).filter((company) => !loud.has(company));
  await Promise.all([
    ...toBackground.map((company) => moveCompany(company, { from: foreground, to: background })),
    ...toForeground.map((company) => moveCompany(company, { from: background, to: foreground })),
  ]);
}

/** Groups that hold the memory of environments can't move. */
function idleWithEnvironments(loud: ReadonlySet<string>): void {
  const folder = environmentCompanies();
  if (folder === null) return;
  for (const company of companiesIn(folder)) {
    ignoreErrors(() => writeFileSync(path.join(folder, company, "cpu.idle"), loud.has(company) ? "1" : "0"));
  }
}

/** The folders with groups of companies. */
function companyFolders({ background, foreground }: Groups): readonly string[] {
  const environments = environmentCompanies();
  return [background, foreground, ...(environments === null ? [] : [environments])];
}

async function moveCompany(
  company: string,
  { from, to }: { readonly from: string; readonly to: string },
): Promise<void> {
  const [group, target] = [path.join(from, company), path.join(to, company)];
  // It may have no processes now: the next ones start where its group is.
  await mkdir(target, { recursive: true }).catch(() => undefined);
  await Promise.all(processesOf(group).map((pid) => moveInOrder(pid, () => move(target, pid))));
  const weight = current?.weights.get(company);
  if (weight !== undefined) setWeight(target, weight);
  // Fails if processes have been added meanwhile, which the next call moves.
  await removeGroup(company, group);
}

/**
 * Sets the weights of companies' groups, which divide the processor time of all companies between them. `weights`: by company, relative
 * to the usual weight.
 */
export function weighCompanies(weights: ReadonlyMap<string, number>): void {
  if (current === null) return;
  const { weights: before } = current;
  const folders = companyFolders(current);
  const isSet = ([company, weight]: readonly [string, number]) =>
    before.get(company) === weight ||
    folders.map((folder) => setWeight(path.join(folder, company), weight)).includes(true);
  current.weights = new Map([...weights].filter(isSet));
}

/** Returns whether the group exists. */
function setWeight(group: string, weight: number): boolean {
  if (current === null) return false;
  try {
    writeWeight(group, current.version, weight);
    return true;
  } catch {
    return false;
  }
}

/** Returns what each company has used that has a group, or had one until recently. */
export function companyTimes(): CompanyTimes {
  if (current === null) return new Map();
  const times = new Map<string, UsedTime[]>();
  const add = (company: string, more: readonly UsedTime[]) =>
    times.set(company, [...(times.get(company) ?? []), ...more]);
  for (const folder of countingFolders(current)) {
    for (const company of companiesIn(folder)) add(company, timesIn(path.join(folder, company)));
  }
  const now = performance.now();
  current.removed = current.removed.filter(({ at }) => now - at < removedMilliseconds);
  for (const { company, time } of current.removed) add(company, [time]);
  return times;
}

/** Returns the processor time of the server and all companies, including ended processes. Empty if no control group counts it. */
export function installationTimes(): readonly UsedTime[] {
  if (current === null) return [];
  const { counted, services, edge, foreground, background } = current;
  const groups = counted === null ? [services, edge, foreground, background] : [counted];
  return groups.flatMap((group) => timeOfGroup(group) ?? []);
}

/** The folders with groups that count the time of companies. */
function countingFolders(groups: Groups): readonly string[] {
  return groups.counted === null ? companyFolders(groups) : [groups.counted];
}

function timesIn(group: string): readonly UsedTime[] {
  const time = timeOfGroup(group);
  return time === null ? processesOf(group).flatMap((pid) => timeOfProcess(pid) ?? []) : [time];
}

/** Also the processes of groups in the group. */
function processesOf(group: string): readonly number[] {
  try {
    const inner = companiesIn(group).flatMap((name) => processesOf(path.join(group, name)));
    return [
      ...readFileSync(path.join(group, "cgroup.procs"), "utf8").split("\n").filter(Boolean).map(Number),
      ...inner,
    ];
  } catch {
    // Another process has removed the empty group.
    return [];
  }
}

/** Removes the groups of companies and environments that have no processes. Loud companies stay in the background. */
export async function removeEmptyGroups(): Promise<void> {
  if (current === null) return removeEmptyEnvironmentGroups();
  const { background, foreground, counted, loud } = current;
  const environments = environmentCompanies();
  await removeEmptyEnvironmentGroups((group) =>
    path.dirname(group) === environments ? removeGroup(path.basename(group), group) : rmdir(group),
  );
  const quiet = companiesIn(background).filter((company) => !loud.has(company));
  await Promise.all([
    ...quiet.map((company) => removeGroup(company, path.join(background, company))),
    ...[foreground, ...(counted === null ? [] : [counted])].flatMap((folder) =>
      companiesIn(folder).map((company) => removeGroup(company, path.join(folder, company))),
    ),
  ]);
  // A group that is made again has the usual weight.
  current.weights = new Map();
}

/** Removes a company's group, unless it has processes, and remembers what it has counted. */
async function removeGroup(company: string, group: string): Promise<void> {
  const time = timeOfGroup(group);
  const isRemoved = await rmdir(group).then(
    () => true,
    () => false,
  );
  if (current === null || !isRemoved || time === null) return;
  current.removed = [...current.removed, { company, time, at: performance.now() }];
}
