/** Crash test subject for a WP-CLI command: a live site, and a count of how often the command was started. */
import { readFakeCommands } from "@sitewright/runtimes/fake/wpCli.ts";
import type { OperationRequest } from "../operations/engine/accept.ts";
import type { Subject } from "../operations/faults/testing/crashHarness.ts";
import { systemActor } from "../store/company/activity.ts";
import { liveSite } from "./sites.ts";
import type { World } from "./world.ts";

const command = ["option", "update", "blogname", "Garden"];

export const runningWpCli: Subject = {
  kind: "runWpCli",
  prepare: async (world) => {
    const { companyId, siteId, environment, name } = await liveSite(world);
    return {
      kind: "runWpCli",
      companyId,
      siteId,
      environmentId: environment.id,
      locks: [environment.id],
      input: { environment },
      secret: JSON.stringify(command),
      whenBusy: "fail",
      actor: systemActor,
      activityParameters: { siteName: name, environmentName: "Live", command: "option update" },
    };
  },
  finished: (world, request) => startedTimes(world, request, [1]),
  // The command can't be undone, but it must not run twice.
  undone: (world, request) => startedTimes(world, request, [0, 1]),
  isAtMostOnce: true,
};

async function startedTimes(
  world: World,
  { environmentId }: OperationRequest,
  times: readonly number[],
): Promise<string[]> {
  const row = await world.own.database
    .selectFrom("environments")
    .select(["id", "number"])
    .where("id", "=", environmentId ?? "")
    .executeTakeFirstOrThrow();
  const layout = await world.services.runtime.layout(row);
  const found = await readFakeCommands(layout?.documentRoot ?? "");
  return times.includes(found.length) ? [] : [`the command was started ${found.length} times`];
}
