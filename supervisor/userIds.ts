/** Checks, if we are root, that the users of sites' files and processes are users of nothing else on this machine. */
import { lstatSync, readdirSync, readFileSync, readlinkSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { usersPerInstallation } from "@sitewright/runtimes/owner.ts";
import { readInstallation } from "./records.ts";

const setting = "SITEWRIGHT_FIRST_USER_ID";

/** Ids that something else uses. */
interface Reserved {
  readonly file: string;
  readonly name: string;
  readonly first: number;
  readonly count: number;
}

/** Reads `name:x:id:…` (`passwd`, `group`) or `name:first:count` (`subuid`, `subgid`). Ignores lines that it can't read. */
function readIds(file: string, text: string): readonly Reserved[] {
  const isRange = /sub[ug]id$/.test(file);
  return text.split("\n").flatMap((line) => {
    const [name = "", second = "", third = ""] = line.split(":");
    const [first, count] = isRange ? [Number(second), Number(third)] : [Number(third), 1];
    const isId = name !== "" && third !== "" && Number.isSafeInteger(first) && Number.isSafeInteger(count);
    return isId ? [{ file, name, first, count }] : [];
  });
}

const idFiles = ["etc/passwd", "etc/group", "etc/subuid", "etc/subgid"];

/** All ids that the system gives to users, groups, and users' containers. `root`: the folder that has `etc`. */
function reservedIds(root: string): readonly Reserved[] {
  return idFiles.flatMap((file) => {
    try {
      return readIds(`/${file}`, readFileSync(join(root, file), "utf8"));
    } catch {
      return [];
    }
  });
}

const isIn = (id: number, firstUserId: number) => id >= firstUserId && id < firstUserId + usersPerInstallation;

/** Returns a sentence that names the first overlap and what to do, or null if there is none. */
export function overlapOf(firstUserId: number, root = "/"): string | null {
  const end = firstUserId + usersPerInstallation;
  const reserved = reservedIds(root);
  const found = reserved.find(({ first, count }) => first < end && first + count > firstUserId);
  if (found === undefined) return null;
  const { file, name, first, count } = found;
  const theirs = count === 1 ? `${first}` : `${first} to ${first + count - 1}`;
  return (
    `The users ${firstUserId} to ${end - 1} are for sites, but ${file} gives ${theirs} to ${name}. ` +
    `Set ${setting}=${freeRange(reserved)}, or a number that is free for ${usersPerInstallation} ids.`
  );
}

/** Returns the first multiple of the range's size after all reserved ids of usual size. */
function freeRange(reserved: readonly Reserved[]): number {
  let first = 2 * usersPerInstallation;
  const isTaken = () =>
    reserved.some((one) => one.first < first + usersPerInstallation && one.first + one.count > first);
  while (isTaken()) first += usersPerInstallation;
  return first;
}

interface UserIdSettings {
  readonly firstUserId: number;
  readonly environments: string;
}

/**
 * Returns the first user of sites: the setting if it is given, otherwise that of the last start. Before there are sites, ids
 * that something else uses are avoided.
 */
export function chooseUserIds(
  { firstUserId, data, environments }: UserIdSettings & { readonly data: string },
  env: NodeJS.ProcessEnv,
  root = "/",
): number {
  if (env[setting]) return firstUserId;
  const wanted = readInstallation(data)?.firstUserId ?? firstUserId;
  const isFree = overlapOf(wanted, root) === null;
  return isFree || namesIn(environments).length > 0 ? wanted : freeRange(reservedIds(root));
}

/** Users below are people and services, so a site of theirs was not made by root. */
const lowestFirstUser = 65_536;

/** Returns the users who own existing sites. */
function ownersIn(environments: string): readonly number[] {
  return namesIn(environments)
    .map((name) => lstatSync(join(environments, name), { throwIfNoEntry: false })?.uid ?? 0)
    .filter((uid) => uid >= lowestFirstUser);
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

/**
 * Throws if all sites belong to users of another range, or if there are no sites yet and the range overlaps another one. If
 * there are sites, an overlap is only reported, because their users can't simply be changed. So are single sites outside the
 * range: earlier versions had no upper end.
 */
export function checkUserIds(
  { firstUserId, environments }: UserIdSettings,
  report: (sentence: string) => void,
  root = "/",
): void {
  if (process.getuid?.() !== 0) return;
  const owners = ownersIn(environments);
  const foreign = owners.find((owner) => !isIn(owner, firstUserId));
  if (foreign !== undefined) {
    const finding =
      `Sites in ${environments} belong to user ${foreign}, which is not one of ${firstUserId} to ` +
      `${firstUserId + usersPerInstallation - 1}.`;
    if (!owners.some((owner) => isIn(owner, firstUserId))) {
      throw new Error(`${finding} Set ${setting} to what it was when they were created.`);
    }
    report(
      `${finding} They can't run PHP. Move this installation with operator backup and restore, which gives them other users.`,
    );
  }
  const overlap = overlapOf(firstUserId, root);
  if (overlap === null) return;
  if (namesIn(environments).length === 0) throw new Error(overlap);
  report(
    `${overlap} Only an installation without sites can change it: move this one with operator backup and restore.`,
  );
}

/** Returns the folder of another installation's site whose running PHP has a user of the range, or null. */
export function foreignSite({ firstUserId, environments }: UserIdSettings, processes = "/proc"): string | null {
  for (const pid of namesIn(processes).filter((name) => /^\d+$/.test(name))) {
    const folder = siteOfProcess(join(processes, pid), firstUserId);
    if (folder !== null && dirname(folder) !== environments) return folder;
  }
  return null;
}

/** Workers have the folder of their environment as working directory. Other processes of the range end soon. */
function siteOfProcess(folder: string, firstUserId: number): string | null {
  try {
    const user = Number(/^Uid:\s*(\d+)/m.exec(readFileSync(join(folder, "status"), "utf8"))?.[1]);
    const place = readlinkSync(join(folder, "cwd"));
    return isIn(user, firstUserId) && basename(dirname(place)) === "environments" ? place : null;
  } catch {
    // It has ended.
    return null;
  }
}
