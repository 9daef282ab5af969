/** Exact totals of lists that are read in parts with `limit` and `offset`. */

interface Part {
  readonly limit: number;
  readonly offset: number;
}

/**
 * Returns the number of rows in a list that a part of it was read from. Rows are counted only if the part does not show how
 * many there are. Rows that were added or deleted since then never make the total contradict the part.
 */
export async function totalOf(
  { limit, offset }: Part,
  items: readonly unknown[],
  count: () => Promise<number>,
): Promise<number> {
  const end = offset + items.length;
  if (items.length < limit && (items.length > 0 || offset === 0)) return end;
  const counted = await count();
  if (items.length > 0) return Math.max(counted, end);
  return limit > 0 ? Math.min(counted, offset) : counted;
}
