/**
 * Control groups that limit the memory and the processes of each environment's own programs: php-fpm, WP-CLI, and everything that
 * they start. If the memory of a group is used up, the system kills one of its processes, and no other.
 *
 * A program joins its groups before it starts anything, so nothing of it is outside. Groups are made when they are needed and removed
 * when they are empty, so the launcher of a program may have to make them again (`launch.ts` of the native runtime).
 *
 * - With version 1, memory and processes have hierarchies of their own; processor time stays with the company's group
 *   (`companies.ts`).
 * - With version 2 there is one hierarchy, and used memory stays where it was used. So these programs do not move to the background:
 *   companies have groups here too, and those of loud companies run only if none of the others wants to.
 */
import { existsSync } from "node:fs";
import { mkdir, readdir, readFile, rmdir, writeFile } from "node:fs/promises";
import path from "node:path";
import { setTimeout } from "node:timers/promises";
import { closing, groupName, weights, writeWeight } from "./groups.ts";
import { type Controller, type Place, placeOf } from "./place.ts";

export interface GroupOwner {
  readonly environmentId: string;
  readonly companyId: string;
}

export interface EnvironmentLimits extends GroupOwner {
  /** Of all its programs together, files in memory included. */
  readonly memoryBytes: number;
  /** Processes and threads of all its programs together. */
  readonly processes: number;
}

/** A value for a file of a group, which is made first. */
export interface GroupEntry {
  readonly folder: string;
  readonly file: string;
  readonly value: string;
}

type Limit = "memory" | "pids";

/** Which of the limits control groups keep here. */
export type GroupLimits = Readonly<Record<Limit, boolean>>;

const limits = ["memory", "pids"] as const satisfies readonly Controller[];

interface Tree {
  readonly version: Place["version"];
  /** Has the groups of environments, or of companies with version 2. */
  readonly folder: string;
}

/** Of the limits that this installation has. */
let current: Readonly<Partial<Record<Limit, Tree>>> = {};

function treeOf(limit: Limit, data: string, pid: number | "self" = "self"): Tree | null {
  const place = placeOf(pid, limit);
  if (place === null) return null;
  const { version, folder } = place;
  // With version 2, the server's processes are in groups next to this one.
  const isOurs = version === 2 && path.basename(folder).startsWith(groupName(data));
  return { version, folder: path.join(isOurs ? path.dirname(folder) : folder, `${groupName(data)}-environments`) };
}

/**
 * Makes the functions below use control groups, as far as this machine allows it: it is tried. Removes groups without processes that an
 * earlier process has left. Call it at startup, with version 2 after `openProcessorGroups`.
 */
export async function useEnvironmentGroups(data: string): Promise<GroupLimits> {
  current = {};
  for (const limit of limits) {
    const tree = treeOf(limit, data);
    if (tree === null) continue;
    // Another process that starts meanwhile may remove the group of the first trial.
    if ((await canLimit(limit, tree)) || (await canLimit(limit, tree))) current = { ...current, [limit]: tree };
    // Fails if it has groups of another limit.
    else await rmdir(tree.folder).catch(() => undefined);
  }
  await removeEmptyEnvironmentGroups();
  return { memory: current.memory !== undefined, pids: current.pids !== undefined };
}

const trialValues: Readonly<Record<Limit, number>> = { memory: 1 << 30, pids: 100 };

/** Makes a group, limits it, and removes it. */
async function canLimit(limit: Limit, tree: Tree): Promise<boolean> {
  const trial = path.join(tree.folder, `trial-${process.pid}`);
  try {
    if (tree.version === 2) await allowLimitsIn(path.dirname(tree.folder));
    await mkdir(tree.folder, { recursive: true });
    if (tree.version === 2) {
      await allowLimitsIn(tree.folder);
      writeWeight(tree.folder, tree.version, weights.foreground);
    }
    await mkdir(trial);
    const values = valuesOf(limit, tree, trial, trialValues[limit]);
    for (const { file, value } of values) await writeFile(path.join(trial, file), value);
    const { file, value } = values[values.length - 1] ?? { file: "", value: "" };
    return (await readFile(path.join(trial, file), "utf8")).trim() === value;
  } catch {
    return false;
  } finally {
    await rmdir(trial).catch(() => undefined);
  }
}

const subtree = "+cpu +memory +pids";

/** Lets the groups in this one, of version 2, have limits. */
const allowLimitsIn = (folder: string) => writeFile(path.join(folder, "cgroup.subtree_control"), subtree);

/** The entries that limit a group. */
function valuesOf(limit: Limit, { version, folder }: Tree, group: string, value: number): readonly GroupEntry[] {
  const entry = (file: string, content: string | number): GroupEntry => ({
    folder: group,
    file,
    value: String(content),
  });
  if (limit === "pids") return [entry("pids.max", value)];
  if (version === 2) return [entry("memory.swap.max", 0), entry("memory.max", value)];
  // The kernel counts in pages.
  const bytes = value - (value % 4096);
  const withSwap = "memory.memsw.limit_in_bytes";
  const hasSwap = existsSync(path.join(folder, withSwap));
  // The limit with swap is never the lower one.
  return [
    ...(hasSwap ? [entry(withSwap, -1)] : []),
    entry("memory.limit_in_bytes", bytes),
    ...(hasSwap ? [entry(withSwap, bytes)] : []),
  ];
}

/** What makes a process that writes it join a group. */
const joining = (folder: string): GroupEntry => ({ folder, file: "cgroup.procs", value: "0" });

/**
 * What a process has to write, in this order, to make the environment's groups, limit them, and join them. Empty if there are no
 * groups.
 */
export function environmentEntries(wanted: EnvironmentLimits): readonly GroupEntry[] {
  const values = { memory: wanted.memoryBytes, pids: wanted.processes };
  const entries: GroupEntry[] = [];
  const groups = new Set<string>();
  for (const limit of limits) {
    const tree = current[limit];
    if (tree === undefined) continue;
    const group = groupOf(tree, wanted);
    if (tree.version === 2)
      entries.push({ folder: path.dirname(group), file: "cgroup.subtree_control", value: subtree });
    entries.push(...valuesOf(limit, tree, group, values[limit]));
    groups.add(group);
  }
  return [...entries, ...[...groups].map(joining)];
}

function groupOf({ version, folder }: Tree, { companyId, environmentId }: GroupOwner): string {
  return version === 1 ? path.join(folder, environmentId) : path.join(folder, companyId, environmentId);
}

/** Removes an environment's groups, unless they have processes. */
export async function removeEnvironmentGroups(owner: GroupOwner): Promise<void> {
  for (const tree of Object.values(current)) await rmdir(groupOf(tree, owner)).catch(() => undefined);
}

/** Removes the groups of all environments that have no processes. `remove`: removes an empty group, or else rejects. */
export async function removeEmptyEnvironmentGroups(remove: (group: string) => Promise<void> = rmdir): Promise<void> {
  for (const { folder } of Object.values(current)) await removeEmptyIn(folder, remove);
}

async function removeEmptyIn(folder: string, remove: (group: string) => Promise<void> = rmdir): Promise<void> {
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
  for (const entry of entries.filter((one) => one.isDirectory())) {
    const group = path.join(folder, entry.name);
    await removeEmptyIn(group, remove);
    await remove(group).catch(() => undefined);
  }
}

/** Removes all groups of environments, whose processes must have ended. Others may still use them, so errors are ignored. */
export async function closeEnvironmentGroups(data: string): Promise<void> {
  current = {};
  for (const limit of limits) {
    const folder = treeOf(limit, data)?.folder;
    for (let attempt = 0; folder !== undefined && existsSync(folder) && attempt < closing.attempts; attempt += 1) {
      // A process that has ended stays in its group for a moment.
      if (attempt > 0) await setTimeout(closing.milliseconds);
      await removeEmptyIn(folder);
      await rmdir(folder).catch(() => undefined);
    }
  }
}

/** What control groups limit in the installation whose supervisor has this process id. */
export function environmentGroupsOf(data: string, pid: number): GroupLimits {
  const isUsed = (limit: Limit) => existsSync(treeOf(limit, data, pid)?.folder ?? "");
  return { memory: isUsed("memory"), pids: isUsed("pids") };
}

/** The folder with the groups of companies in version 2, or null: then `companies.ts` has all groups of companies. */
export function environmentCompanies(): string | null {
  const tree = current.memory ?? current.pids;
  return tree?.version === 2 ? tree.folder : null;
}
