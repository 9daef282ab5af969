/** Newer versions of one plugin or theme for many environments: asked for, looked at, broken off. */
import { randomUUID } from "node:crypto";
import type { RolloutWish } from "@sitewright/contract/packages/rollouts.ts";
import { versionKey } from "@sitewright/server/packages/versions.ts";
import type { DatabaseTransaction } from "@sitewright/server/store/database.ts";
import { breakOff, holdRollout } from "@sitewright/server/store/packages/rolloutProgress.ts";
import {
  environmentsAmong,
  findHolders,
  findRollout,
  insertRollout,
  itemsOfRollout,
  listRollouts,
  type RolloutItemRecord,
  type RolloutRecord,
} from "@sitewright/server/store/packages/rollouts.ts";
import type { Static } from "typebox";
import { recordDone } from "../company/activityEntries.ts";
import type { Context } from "../context.ts";
import { NotFound, Refused } from "../failures.ts";
import { requireOffered, requireSource } from "./packageUpdates.ts";

type Wish = Static<typeof RolloutWish>;

const usualItems = 100;
const mostItems = 500;
const usual = { concurrency: 4, canaries: 1, stop_after_failures: 1 };

/** Those that are named, as they are; else all that would get a newer version. */
async function chosenBy(
  { caller, database }: Context,
  { type: kind, name, update_version, environments: named }: Wish,
): Promise<readonly string[]> {
  const { companyId } = caller;
  if (named !== undefined) {
    const ids = [...new Set(named.map((id) => id.toLowerCase()))];
    const known = await environmentsAmong(database, companyId, ids);
    const unknown = ids.filter((id) => !known.has(id));
    if (unknown.length === 0) return ids;
    throw new Refused("unknown_environment", `The company has no environment ${unknown.join(", ")}.`, { ids: unknown });
  }
  const key = update_version === undefined ? null : versionKey(update_version);
  const holders = await findHolders(database, { companyId, kind, name });
  return holders
    .filter((one) => (key === null ? one.update_version !== null : one.version_key < key))
    .map(({ id }) => id);
}

/** Begins it: the first updates start in a moment. */
export async function create(context: Context, wish: Wish) {
  const { caller, signal, actor } = context;
  const source = requireSource(context);
  const { type: kind, name, update_version: version = null, ...options } = wish;
  const environmentIds = await chosenBy(context, wish);
  if (environmentIds.length === 0) {
    const sentence = `No environment of the company has a ${kind} ${name} for which a newer version is known to be offered.`;
    throw new Refused("nothing_to_update", sentence, { names: [name] });
  }
  if (version !== null) await requireOffered(source, kind, { name, slug: null, update_version: null }, version, signal);
  const { concurrency, canaries, stop_after_failures: stopAfterFailures } = { ...usual, ...options };
  const id = randomUUID();
  return context.inTransaction(async (transaction) => {
    const facts = { id, companyId: caller.companyId, kind, name, version, actor, environmentIds };
    await insertRollout(transaction, { ...facts, concurrency, canaries, stopAfterFailures });
    await recordDone(context, transaction, {
      type: "createRollout",
      category: "siteActions",
      parameters: { packageName: name, environmentCount: String(environmentIds.length) },
    });
    return wholeOf(context, transaction, id);
  });
}

export async function list(
  { caller, database }: Context,
  { limit = usualItems, offset = 0 }: { readonly limit?: number; readonly offset?: number },
) {
  const { total, items } = await listRollouts(database, caller.companyId, {
    limit: Math.min(limit, mostItems),
    offset,
  });
  return { total, items: items.map(shown) };
}

export function get(context: Context, id: string) {
  return wholeOf(context, context.database, id);
}

/** What was begun goes on. One that has ended stays as it is. */
export function cancel(context: Context, id: string) {
  return context.inTransaction(async (transaction) => {
    const whole = await wholeOf(context, transaction, id);
    const rollout = await holdRollout(transaction, id);
    if (rollout?.state !== "running") return whole;
    await breakOff(transaction, id, { state: "cancelled", reason: "The rollout was cancelled before." });
    await recordDone(context, transaction, {
      type: "cancelRollout",
      category: "siteActions",
      parameters: { packageName: rollout.name },
    });
    return wholeOf(context, transaction, id);
  });
}

async function wholeOf(
  { caller }: Context,
  database: DatabaseTransaction | Context["database"],
  id: string,
): Promise<ReturnType<typeof shown> & { environments: ReturnType<typeof shownItem>[] }> {
  const rollout = await findRollout(database, caller.companyId, id);
  if (rollout === null) throw new NotFound();
  return { ...shown(rollout), environments: (await itemsOfRollout(database, id)).map(shownItem) };
}

function shown({ company_id: _, kind: type, version: update_version, counts, ...one }: RolloutRecord) {
  const moments = { created_at: one.created_at.toISOString(), ended_at: one.ended_at?.toISOString() ?? null };
  return { ...one, type, update_version, counts: { ...counts }, ...moments };
}

function shownItem({ ended_at, ...one }: RolloutItemRecord) {
  return { ...one, ended_at: ended_at?.toISOString() ?? null };
}
