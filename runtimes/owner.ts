/**
 * The users that environments' files belong to, and that their PHP runs as, if this process is root: a range of user ids that
 * nothing else on the machine uses. The ids of groups are the same.
 */

/** Environments per installation: more than a machine can serve. */
export const usersPerInstallation = 100_000;
const browserCount = 16;
/** Browsers and the readers' group. */
const reservedCount = browserCount + 1;

let firstUser = 200_000;

/** Sets where the range begins. Call it at startup: files keep their owner. */
export function useUsersFrom(id: number): void {
  firstUser = id;
}

/**
 * Returns the user id of an environment: unprivileged and unique, so that environments can't access each other's files.
 */
export function ownerOf(number: number): number {
  if (number >= usersPerInstallation - reservedCount) throw new Error(`There is no user for environment ${number}.`);
  return firstUser + number;
}

/** Returns the first and the last of the environments' users. */
export function environmentUsers(): { readonly first: number; readonly last: number } {
  return { first: firstUser, last: readersGroup() - 1 };
}

/** Returns the group of all environments' PHP processes, or null if they run as this user. No environment has number 0. */
export function phpGroup(): number | null {
  return process.getuid?.() === 0 ? ownerOf(0) : null;
}

/** Returns the users of browsers that take screenshots, one for each at a time: the last ones of the range. */
export function browserUsers(): readonly number[] {
  const end = firstUser + usersPerInstallation;
  return Array.from({ length: browserCount }, (_, index) => end - 1 - index);
}

/**
 * Returns the group that may pass through folders of root, to reach sites' databases below them. Only processes that read one
 * database and end belong to it.
 */
export function readersGroup(): number {
  return firstUser + usersPerInstallation - reservedCount;
}
