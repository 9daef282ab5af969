/** Decides whether a request body arrives too slowly, so that no one holds space and a connection for nothing. */

/** A body on its way. */
export interface Progress {
  readonly receivedBytes: number;
  /** Null if the visitor has not announced it. */
  readonly announcedBytes: number | null;
  /** Time since the head of the request arrived, without the time in which the edge was busy with the body. */
  readonly milliseconds: number;
}

export interface Pace {
  /** No minimum applies during this time. */
  readonly graceSeconds: number;
  /** Limit for the whole request. */
  readonly requestSeconds: number;
}

/** The slowest mobile connections are ten times as fast. */
const minBytesPerSecond = 1_000;

/**
 * Whether the body is too slow: on average below the minimum since the grace period, or so far behind that it can't
 * arrive within the limit, even at double the speed that was needed from the start.
 */
export function isTooSlow(
  { receivedBytes, announcedBytes, milliseconds }: Progress,
  { graceSeconds, requestSeconds }: Pace,
): boolean {
  const seconds = milliseconds / 1000 - graceSeconds;
  const needed = (announcedBytes ?? 0) / requestSeconds / 2;
  return seconds > 0 && receivedBytes < seconds * Math.max(minBytesPerSecond, needed);
}
