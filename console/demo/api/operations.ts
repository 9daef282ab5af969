/** Operations and their pictures. */

import type { Calls, ResponseHandlers } from "@sitewright/contract/endpoints.ts";
import { operationMessages } from "@sitewright/contract/operationKinds.ts";
import { found } from "../world/failures.ts";
import { pageOf } from "../world/find.ts";
import { idOf } from "../world/ids.ts";
import { blockingOf, progressOf, summaryOf } from "../world/operations.ts";
import type { DemoOperation, World } from "../world/world.ts";
import { pictureAfter, pictureBefore } from "./pictures.ts";

const operationOf = ({ operations }: World, wanted: string): DemoOperation =>
  found(operations.find(({ id }) => id === wanted));

/** Resolves when the operation has ended, or the seconds are over. */
function endOf(world: World, operation: DemoOperation, seconds: number): Promise<void> {
  if (operation.state !== "running" || seconds === 0) return Promise.resolve();
  return new Promise((resolve) => {
    const done = () => {
      world.listeners.delete(look);
      resolve();
    };
    const look = () => operation.state !== "running" && done();
    world.listeners.add(look);
    world.clock.later(seconds * 1_000, done);
  });
}

const statuses = { running: 202, succeeded: 200, failed: 500 } as const;

const isPictured = ({ kind }: DemoOperation): boolean => kind.startsWith("update") && kind !== "updateEdgeCacheStatus";

export const operationCalls = {
  listOperations: (world, { query: { state, kind, site_id, env_id, limit = 20, offset } }) => {
    const matches = world.operations
      .filter((one) => state === undefined || one.state === state)
      .filter((one) => kind === undefined || kind.includes(one.kind))
      .filter((one) => site_id === undefined || one.siteId === site_id)
      .filter((one) => env_id === undefined || one.environmentId === env_id);
    return { items: pageOf(matches, { limit, offset }).map(summaryOf), total: matches.length };
  },
  listOperationPictures: (world, { params, query: { path } }) => {
    if (!isPictured(operationOf(world, params.operation_id))) return [];
    const facts = { path: "/", difference: 1.4, before_bytes: 1_800, after_bytes: 1_900 };
    if (path === undefined) return [facts];
    return path === "/" ? [{ ...facts, before: pictureBefore, after: pictureAfter }] : [];
  },
} satisfies Partial<Calls<World>>;

export const operationHandlers = {
  getOperation: async (world, { params, query }) => {
    const operation = operationOf(world, params.operation_id);
    await endOf(world, operation, query.wait ?? 0);
    const { state, message, result } = operation;
    const [status, progress] = [statuses[state], progressOf(operation)];
    const ending =
      state === "failed"
        ? { status, message: message ?? "", ...blockingOf(operation), reference_id: idOf(operation.id) }
        : state === "succeeded"
          ? { result }
          : {};
    return { status, body: { status, message: operationMessages[state], data: { ...progress, ...ending } } };
  },
} satisfies Partial<ResponseHandlers<World>>;
