/** Logs of an environment. */
import type { LogName } from "@sitewright/contract/traffic/logs.ts";
import { environmentForOperation } from "@sitewright/server/store/sites/environmentStates.ts";
import type { Context } from "../context.ts";
import { NotFound, Refused } from "../failures.ts";
import { readTimestamp } from "../timestamps.ts";

interface LogQuery {
  readonly file_name?: LogName;
  readonly lines?: number;
  readonly from?: string;
  readonly to?: string;
  readonly search?: string;
}

const defaultLines = 1_000;

export async function read(context: Context, environmentId: string, query: LogQuery) {
  const [from, to] = [query.from, query.to].map((text) => (text === undefined ? null : readTimestamp(text)));
  if (from && to && from > to) throw new Refused("period_backwards", "`from` must not be later than `to`.");
  const environment = await environmentForOperation(context.database, environmentId);
  if (!environment) throw new NotFound();
  const { text, isComplete } = await context.readLog({
    environmentId: environment.id,
    log: query.file_name ?? "error",
    lines: query.lines ?? defaultLines,
    from: from ?? null,
    to: to ?? null,
    search: query.search ?? null,
  });
  return { container_info: { logs: text, is_complete: isComplete } };
}
