/** The users that environments' files belong to, and that their PHP runs as. Only if this process is root. */

/** Environment 1 has the user after this one. */
const firstUser = 200_000;

/**
 * Returns the user id of an environment: unprivileged and unique, so that environments can't access each other's files.
 */
export function ownerOf(number: number): number {
  return firstUser + number;
}

/** Returns the group of all environments' PHP processes, or null if they run as this user. No environment has number 0. */
export function phpGroup(): number | null {
  return process.getuid?.() === 0 ? ownerOf(0) : null;
}

const browserCount = 16;

/** Returns the users of browsers that take screenshots, one for each at a time. Below those of environments. */
export function browserUsers(): readonly number[] {
  return Array.from({ length: browserCount }, (_, index) => firstUser - 1 - index);
}
