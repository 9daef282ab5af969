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
