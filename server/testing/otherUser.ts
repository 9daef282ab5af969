/** Runs work as an unprivileged user, because root is not bound by permissions. */

/** User id of `nobody`. */
const unprivilegedUser = 65_534;

export async function asOtherUser(work: () => Promise<void>): Promise<void> {
  const isRoot = process.geteuid?.() === 0;
  if (isRoot) process.seteuid?.(unprivilegedUser);
  try {
    await work();
  } finally {
    if (isRoot) process.seteuid?.(0);
  }
}
