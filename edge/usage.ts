/** Usage of environments since the edge started: PHP work and bytes sent. */

import { isDeepStrictEqual } from "node:util";
import type { Analytics } from "./analytics/analytics.ts";
import type { Upstream, UpstreamUsage } from "./php/upstream.ts";

type EnvironmentTotals = UpstreamUsage & { readonly bytesSent: number };

export interface EdgeUsage {
  /** Identifies this run of the edge. All numbers start at 0 in a new run. */
  readonly run: string;
  /** The number of this report, which rises. */
  readonly report: number;
  readonly environments: readonly EnvironmentTotals[];
}

/** An earlier report. */
export type EarlierReport = Pick<EdgeUsage, "run" | "report">;

export interface UsageReports {
  /** The environments whose usage has changed since that report; null, or one of another run: all that had requests. */
  next(since: EarlierReport | null): EdgeUsage;
}

const noUsage = {
  phpRequests: 0,
  phpMilliseconds: 0,
  cpuMilliseconds: 0,
  killedForTime: 0,
  killedForMemory: 0,
  refusedBusy: 0,
  writes: 0,
  recentCores: 0,
};

export function createUsageReports(
  run: string,
  upstream: Pick<Upstream, "usage">,
  analytics: Pick<Analytics, "bytesSent">,
): UsageReports {
  /** With the first report that has it. */
  const latest = new Map<string, { readonly usage: EnvironmentTotals; readonly report: number }>();
  let report = 0;

  function update(): void {
    const sent = analytics.bytesSent();
    const php = new Map(upstream.usage().map((usage) => [usage.environmentId, usage]));
    for (const environmentId of new Set([...php.keys(), ...sent.keys()])) {
      const bytesSent = sent.get(environmentId) ?? 0;
      const usage = { environmentId, ...noUsage, ...php.get(environmentId), bytesSent };
      if (!isDeepStrictEqual(usage, latest.get(environmentId)?.usage)) latest.set(environmentId, { usage, report });
    }
  }

  return {
    next: (since) => {
      report += 1;
      update();
      const after = since?.run === run ? since.report : 0;
      const changed = [...latest.values()].filter((each) => each.report > after);
      return { run, report, environments: changed.map(({ usage }) => usage) };
    },
  };
}
