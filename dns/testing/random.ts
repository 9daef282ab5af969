/** Returns a generator of pseudo-random numbers from 0 to below 1, the same for the same seed (mulberry32). */
export function createRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Returns a generator of pseudo-random integers from 0 to below `limit`, the same for the same seed. */
export function createRandomIntegers(seed: number): (limit: number) => number {
  const random = createRandom(seed);
  return (limit) => Math.floor(random() * limit);
}
