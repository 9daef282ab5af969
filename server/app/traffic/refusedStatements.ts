/** SQL statements that an environment's database refused although MySQL has them, counted from its error log. */
import { refusedStatementMark as mark } from "@sitewright/runtimes/refusedStatements.ts";
import { environmentForOperation } from "@sitewright/server/store/sites/environmentStates.ts";
import type { Context } from "../context.ts";
import { NotFound } from "../failures.ts";

interface RefusedStatement {
  readonly reason: string;
  readonly plugin: string | null;
  readonly count: number;
  readonly first_refused_at: number;
  readonly last_refused_at: number;
  readonly latest_statement: string;
}

const madeBy = / made by .*?$/;
const inPlugin = / in plugin ([\w.-]{1,100})$/;
const maxLines = 20_000;
const maxReasonLength = 200;
const maxStatementLength = 500;
/** Reasons can contain parts of statements, so a plugin could make up any number of them. */
const maxReasons = 100;

/** Returns what a line of the log says, or null if it says something else. */
function parse(line: string): RefusedStatement | null {
  const time = Date.parse(/^\[([^\]]+)\]/.exec(line)?.[1] ?? "");
  const start = line.indexOf(mark);
  if (start === -1 || Number.isNaN(time)) return null;
  const [reason = "", ...rest] = line.slice(start + mark.length).split(" for query ");
  const text = rest.join(" for query ");
  const plugin = inPlugin.exec(text)?.[1] ?? null;
  const statement = text.replace(inPlugin, "").replace(madeBy, "");
  return {
    reason: reason.slice(0, maxReasonLength),
    plugin,
    count: 1,
    first_refused_at: time,
    last_refused_at: time,
    latest_statement: statement.slice(0, maxStatementLength),
  };
}

/** Counts the lines, the oldest first, by plugin and reason. Returns the latest first. */
function countRefused(lines: readonly string[]): RefusedStatement[] {
  const groups = new Map<string, RefusedStatement>();
  for (const line of lines) {
    const refused = parse(line);
    if (refused === null) continue;
    const key = JSON.stringify([refused.plugin, refused.reason]);
    const before = groups.get(key);
    const first = before?.first_refused_at ?? refused.first_refused_at;
    groups.set(key, { ...refused, count: (before?.count ?? 0) + 1, first_refused_at: first });
  }
  return [...groups.values()]
    .toSorted((one, other) => other.last_refused_at - one.last_refused_at)
    .slice(0, maxReasons);
}

export async function list(context: Context, environmentId: string) {
  const environment = await environmentForOperation(context.database, environmentId);
  if (!environment) throw new NotFound();
  const { text, isComplete } = await context.readLog({
    environmentId: environment.id,
    log: "error",
    lines: maxLines,
    from: null,
    to: null,
    search: mark,
  });
  const lines = text.split("\n");
  return { refused_statements: countRefused(lines), is_complete: isComplete && lines.length < maxLines };
}
