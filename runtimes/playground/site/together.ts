/** Settles when all have settled; rejects as the first that failed. Nobody still writes to a folder that is then removed. */
export async function together(...works: readonly Promise<unknown>[]): Promise<void> {
  await Promise.allSettled(works);
  await Promise.all(works);
}
