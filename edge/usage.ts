/** Usage of environments since the edge started: PHP work and bytes sent. */

import type { Upstream, UpstreamUsage } from "./php/upstream.ts";
import type { Traffic } from "./traffic.ts";

export interface EdgeUsage {
  /** Identifies this run of the edge. All numbers start at 0 in a new run. */
  readonly run: string;
  readonly environments: readonly (UpstreamUsage & { readonly bytesSent: number })[];
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

export function usageOf(run: string, upstream: Pick<Upstream, "usage">, traffic: Pick<Traffic, "sent">): EdgeUsage {
  const sent = traffic.sent();
  const php = new Map(upstream.usage().map((usage) => [usage.environmentId, usage]));
  const ids = new Set([...php.keys(), ...sent.keys()]);
  return {
    run,
    environments: [...ids].map((environmentId) => ({
      environmentId,
      ...noUsage,
      ...php.get(environmentId),
      bytesSent: sent.get(environmentId) ?? 0,
    })),
  };
}
