/** When packages were last checked for updates and vulnerabilities: without a check, `none` and `false` mean nothing. */
import { type Check, lastChecks } from "@sitewright/server/store/packages/packageChecks.ts";
import type { Context } from "../context.ts";
import { Refused } from "../failures.ts";

export interface Checks {
  readonly updates: CheckView;
  readonly vulnerabilities: CheckView;
}

interface CheckView {
  readonly checked_at: string | null;
  readonly problem: string | null;
}

export async function checksOf({ database, packageSource, hasAdvisories }: Context): Promise<Checks> {
  const { updates, vulnerabilities } = await lastChecks(database);
  return {
    updates: packageSource === null ? missing(noSource) : checkView(updates),
    vulnerabilities: hasAdvisories ? checkView(vulnerabilities) : missing(noFeed),
  };
}

const noSource = "Updates are not checked: there is no package source (SITEWRIGHT_WPORG_URL is none).";
const noFeed = "Vulnerabilities are not checked: there is no vulnerability feed. Set SITEWRIGHT_ADVISORIES.";

const missing = (problem: string): CheckView => ({ checked_at: null, problem });
const checkView = ({ checkedAt, problem }: Check): CheckView => ({
  checked_at: checkedAt?.toISOString() ?? null,
  problem,
});

/** Returns the refusal of a request that found no updates: there are none (`message`), or they were never checked. */
export async function nothingToUpdate(context: Context, names: readonly string[], message: string): Promise<Refused> {
  const { checked_at, problem } = (await checksOf(context)).updates;
  if (checked_at !== null) return new Refused("nothing_to_update", message, { names });
  const reason = problem ?? "The first check follows in a few seconds.";
  return new Refused("updates_not_checked", `Updates have not been checked yet. ${reason}`, { names });
}
