/** Settles when both have; rejects where one has. So nobody still writes to a folder that is then removed. */
export async function together<One, Other>(one: Promise<One>, other: Promise<Other>): Promise<[One, Other]> {
  await Promise.allSettled([one, other]);
  return Promise.all([one, other]);
}
