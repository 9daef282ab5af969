/** Rollouts: updates of one plugin or theme in many environments. */
import { randomUUID } from "node:crypto";
import type { RolloutCreate } from "@sitewright/contract/packages/rollouts.ts";
import { versionKey } from "@sitewright/server/packages/versions.ts";
import type { DatabaseTransaction } from "@sitewright/server/store/database.ts";
import { lockRollout, stopRollout } from "@sitewright/server/store/packages/rolloutProgress.ts";
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
import { nothingToUpdate } from "./checks.ts";
import { requireOffered, requireSource } from "./packageUpdates.ts";

type CreateRequest = Static<typeof RolloutCreate>;

const defaultLimit = 100;
const maxLimit = 500;
const defaults = { concurrency: 4, canaries: 1, stop_after_failures: 1 };

/** The ids of the named environments, or of all environments that would get a newer version if none are named. */
async function chooseEnvironments(
  { caller, database }: Context,
  { type: kind, name, update_version, environments: named }: CreateRequest,
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

/** Creates a rollout. A reconciler starts the first updates shortly after. */
export async function create(context: Context, request: CreateRequest) {
  const { caller, signal, actor } = context;
  const source = requireSource(context);
  const { type: kind, name, update_version: version = null, ...options } = request;
  const environmentIds = await chooseEnvironments(context, request);
  if (environmentIds.length === 0) {
    const message = `No environment of the company has a ${kind} ${name} with an available newer version.`;
    throw version === null
      ? await nothingToUpdate(context, [name], message)
      : new Refused("nothing_to_update", message, { names: [name] });
  }
  if (version !== null) await requireOffered(source, kind, { name, slug: null, update_version: null }, version, signal);
  const { concurrency, canaries, stop_after_failures: stopAfterFailures } = { ...defaults, ...options };
  const id = randomUUID();
  return context.inTransaction(async (transaction) => {
    const facts = { id, companyId: caller.companyId, kind, name, version, actor, environmentIds };
    await insertRollout(transaction, { ...facts, concurrency, canaries, stopAfterFailures });
    await recordDone(context, transaction, {
      type: "createRollout",
      category: "siteActions",
      parameters: { packageName: name, environmentCount: String(environmentIds.length) },
    });
    return read(context, transaction, id);
  });
}

export async function list(
  { caller, database }: Context,
  { limit = defaultLimit, offset = 0 }: { readonly limit?: number; readonly offset?: number },
) {
  const { total, items } = await listRollouts(database, caller.companyId, {
    limit: Math.min(limit, maxLimit),
    offset,
  });
  return { total, items: items.map(view) };
}

export function get(context: Context, id: string) {
  return read(context, context.database, id);
}

/** Cancels the rollout; updates that have started go on. Does nothing if the rollout has ended. */
export function cancel(context: Context, id: string) {
  return context.inTransaction(async (transaction) => {
    const current = await read(context, transaction, id);
    const rollout = await lockRollout(transaction, id);
    if (rollout?.state !== "running") return current;
    await stopRollout(transaction, id, { state: "cancelled", reason: "The rollout was cancelled before this update." });
    await recordDone(context, transaction, {
      type: "cancelRollout",
      category: "siteActions",
      parameters: { packageName: rollout.name },
    });
    return read(context, transaction, id);
  });
}

async function read(
  { caller }: Context,
  database: DatabaseTransaction | Context["database"],
  id: string,
): Promise<ReturnType<typeof view> & { environments: ReturnType<typeof itemView>[] }> {
  const rollout = await findRollout(database, caller.companyId, id);
  if (rollout === null) throw new NotFound();
  return { ...view(rollout), environments: (await itemsOfRollout(database, id)).map(itemView) };
}

function view({ company_id: _, kind: type, version: update_version, counts, ...one }: RolloutRecord) {
  const timestamps = { created_at: one.created_at.toISOString(), ended_at: one.ended_at?.toISOString() ?? null };
  return { ...one, type, update_version, counts: { ...counts }, ...timestamps };
}

function itemView({ ended_at, ...one }: RolloutItemRecord) {
  return { ...one, ended_at: ended_at?.toISOString() ?? null };
}
