/** Rollouts: one plugin or theme is updated in many environments, one after another. */
import type { Calls } from "@sitewright/contract/endpoints.ts";
import { record } from "../world/activity.ts";
import { send } from "../world/events.ts";
import { found, NotFound, Refusal } from "../world/failures.ts";
import { allPlaces, isoOf, pageOf } from "../world/find.ts";
import { newId } from "../world/ids.ts";
import type { PackageType, Rollout, World } from "../world/world.ts";
import { startUpdate } from "./packages.ts";

/** Between two environments. Milliseconds. */
const pause = 1_500;

type Item = Rollout["environments"][number];

const countsOf = (items: readonly Item[]): Rollout["counts"] => {
  const count = (state: Item["state"]) => items.filter((item) => item.state === state).length;
  return {
    waiting: count("waiting"),
    running: count("running"),
    updated: count("updated"),
    failed: count("failed"),
    skipped: count("skipped"),
  };
};

const rolloutOf = ({ rollouts }: World, wanted: string): Rollout => found(rollouts.find(({ id }) => id === wanted));

function replace(world: World, rollout: Rollout, change: Partial<Rollout>): Rollout {
  const environments = change.environments ?? rollout.environments;
  const changed = { ...rollout, ...change, counts: countsOf(environments) };
  world.rollouts[world.rollouts.findIndex(({ id }) => id === rollout.id)] = changed;
  send(world, "environment.changed", { rollout_id: rollout.id });
  return changed;
}

const withItem = ({ environments }: Rollout, id: string, change: Partial<Item>): Item[] =>
  environments.map((item) => (item.id === id ? { ...item, ...change } : item));

/** Updates the next one that waits, and so on. */
function next(world: World, id: string): void {
  const rollout = rolloutOf(world, id);
  const waiting = rollout.environments.find(({ state }) => state === "waiting");
  if (rollout.state !== "running") return;
  const now = isoOf(world.clock.now());
  if (waiting === undefined) {
    replace(world, rollout, { state: "ended", ended_at: now });
    return;
  }
  const begun = begin(world, rollout, waiting.id);
  if (begun instanceof Error) {
    const failed: Partial<Item> = { state: "failed", ended_at: now, reason: begun.message };
    replace(world, rollout, { environments: withItem(rollout, waiting.id, failed) });
    next(world, id);
    return;
  }
  replace(world, rollout, { environments: withItem(rollout, waiting.id, { state: "running", operation_id: begun }) });
  follow(world, id, waiting.id, begun);
}

/** The id of the operation, or why there is none: meanwhile, people may have updated the package, or signed in as somebody else. */
function begin(world: World, { type, name }: Rollout, environmentId: string): string | Error {
  try {
    return startUpdate(world, environmentId, type, [name]);
  } catch (error) {
    if (error instanceof Refusal) return error;
    if (error instanceof NotFound) return new Error("Whoever is signed in now does not have this environment.");
    throw error;
  }
}

function follow(world: World, id: string, environmentId: string, operationId: string): void {
  world.clock.later(pause, () => {
    const { state, message } = found(world.operations.find((operation) => operation.id === operationId));
    if (state === "running") return follow(world, id, environmentId, operationId);
    const rollout = rolloutOf(world, id);
    const ended: Partial<Item> = {
      state: state === "succeeded" ? "updated" : "failed",
      ended_at: isoOf(world.clock.now()),
      reason: message,
    };
    replace(world, rollout, { environments: withItem(rollout, environmentId, ended) });
    next(world, id);
  });
}

function itemsFor(
  world: World,
  type: PackageType,
  name: string,
  ids: readonly string[] | undefined,
  canaries: number,
): Item[] {
  const places = allPlaces(world)
    .filter(({ environment: { id } }) => ids === undefined || ids.includes(id))
    .flatMap(({ site, environment }) => {
      const one = environment.packages.find((installed) => installed.type === type && installed.name === name);
      return one?.newest === undefined ? [] : [{ site, environment, one }];
    });
  return places.map(({ site, environment, one }, index) => ({
    id: environment.id,
    site_id: site.id,
    site_display_name: site.displayName,
    display_name: environment.displayName,
    is_canary: index < canaries,
    state: "waiting",
    version: one.version,
    update_version: one.newest ?? null,
    operation_id: null,
    reason: null,
    ended_at: null,
  }));
}

export const rolloutCalls = {
  createRollout: (world, { body }) => {
    const { type, name, update_version = null, concurrency = 4, canaries = 1, stop_after_failures = 1 } = body;
    const environments = itemsFor(world, type, name, body.environments, canaries);
    if (environments.length === 0) {
      throw new Refusal("nothing_to_update", `No environment has an update of ${name}.`, { names: [name] });
    }
    const rollout: Rollout = {
      ...{ id: newId(), type, name, update_version, concurrency, canaries, stop_after_failures },
      state: "running",
      created_at: isoOf(world.clock.now()),
      ended_at: null,
      counts: countsOf(environments),
      environments,
    };
    world.rollouts.unshift(rollout);
    record(world, { type: "createRollout", text: `Roll out ${name}` });
    world.clock.later(pause, () => next(world, rollout.id));
    return rollout;
  },
  listRollouts: (world, { query }) => ({
    items: pageOf(world.rollouts, query).map(({ environments: _, ...summary }) => summary),
    total: world.rollouts.length,
  }),
  getRollout: (world, { params }) => rolloutOf(world, params.rollout_id),
  cancelRollout: (world, { params }) => {
    const rollout = rolloutOf(world, params.rollout_id);
    if (rollout.state !== "running") return rollout;
    const environments = rollout.environments.map(
      (item): Item => (item.state === "waiting" ? { ...item, state: "skipped" } : item),
    );
    record(world, { type: "cancelRollout", text: `Cancel the rollout of ${rollout.name}` });
    return replace(world, rollout, { state: "cancelled", ended_at: isoOf(world.clock.now()), environments });
  },
} satisfies Partial<Calls<World>>;
