/** Histogram of response times since the edge started, for monitoring. */

/** Upper limits in seconds. Slower responses are counted in a last bucket without a limit. */
export const answerTimeBuckets = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60] as const;

export interface AnswerTimesOfStatus {
  /** `2xx`, `3xx`, `4xx` or `5xx`. */
  readonly status: string;
  /** The number of responses in each bucket, one more than there are limits. */
  readonly counts: readonly number[];
  readonly sumSeconds: number;
}

export interface AnswerTimes {
  note(statusCode: number, milliseconds: number): void;
  read(): readonly AnswerTimesOfStatus[];
}

export function createAnswerTimes(): AnswerTimes {
  const byStatus = new Map<string, { readonly counts: number[]; sumSeconds: number }>();
  return {
    note(statusCode, milliseconds) {
      const status = `${Math.floor(statusCode / 100)}xx`;
      const times = byStatus.get(status) ?? { counts: answerTimeBuckets.map(() => 0).concat(0), sumSeconds: 0 };
      byStatus.set(status, times);
      const seconds = milliseconds / 1_000;
      const found = answerTimeBuckets.findIndex((limit) => seconds <= limit);
      const bucket = found === -1 ? answerTimeBuckets.length : found;
      times.counts[bucket] = (times.counts[bucket] ?? 0) + 1;
      times.sumSeconds += seconds;
    },
    read: () =>
      [...byStatus].map(([status, times]) => ({ status, counts: [...times.counts], sumSeconds: times.sumSeconds })),
  };
}
