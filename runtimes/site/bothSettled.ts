/**
 * Waits for both promises, then rejects if one has rejected. So neither still writes to a folder that is then removed.
 */
export async function bothSettled<One, Other>(one: Promise<One>, other: Promise<Other>): Promise<[One, Other]> {
  await Promise.allSettled([one, other]);
  return Promise.all([one, other]);
}
