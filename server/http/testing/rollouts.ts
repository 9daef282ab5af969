/** Rollouts over a running server: asked for, gone on with, and what becomes of their updates. */
import { randomUUID } from "node:crypto";
import { makeRolloutStart } from "@sitewright/server/app/packages/rolloutStarts.ts";
import type { FailureKind } from "@sitewright/server/operations/engine/operation.ts";
import { runRollouts } from "@sitewright/server/reconcilers/runRollouts.ts";
import { putPackages } from "@sitewright/server/testing/packages.ts";
import { beforeEach } from "vitest";
import { testSettings, useTestServer } from "./server.ts";

export type RolloutItem = { id: string; state: string; operation_id: string; reason: string | null };

/** For a test file. The package source offers version 2.0 of anything. */
export function useRollouts() {
  const test = useTestServer({
    packageSource: {
      url: new URL("https://packages.example/"),
      newest: async () => new Map(),
      cores: async () => [],
      find: async (_kind, slug) => ({
        slug,
        newest: "2.0",
        versions: [{ version: "2.0", url: new URL("https://packages.example/zip") }],
      }),
    },
  });
  /** A plugin that only one test knows. */
  const plugin = { name: "" };
  beforeEach(() => {
    plugin.name = `shop-${randomUUID()}`;
  });

  const pathOf = (id = "", server = test.current) =>
    `/v2/company/${server.company.company_id}/rollouts${id === "" ? "" : `/${id}`}`;

  const ask = (body: object, server = test.current) =>
    server.call("POST", pathOf("", server), { body: { type: "plugin", name: plugin.name, ...body } });

  const get = async (id: string) => (await test.current.call("GET", pathOf(id))).body.rollout;

  /** Environments that have the plugin, by the name of their site. */
  async function environments(
    count: number,
    version = "1.0",
    update_version: string | null = "2.0",
  ): Promise<string[]> {
    const { addSite, call, database } = test.current;
    const ids: string[] = [];
    for (let at = 0; at < count; at += 1) {
      const siteId = await addSite({ display_name: `${at} ${randomUUID()}` });
      const id = (await call("GET", `/v2/sites/${siteId}`)).body.site.environments[0].id;
      await putPackages(database, id, [{ name: plugin.name, version }]);
      await database.updateTable("packages").set({ update_version }).where("environment_id", "=", id).execute();
      ids.push(id);
    }
    return ids;
  }

  /** One look of the control process at what there is to be done. */
  function goOn(): Promise<void> {
    const { database, operations } = test.current;
    return runRollouts({
      database,
      begin: makeRolloutStart({ settings: testSettings, acceptOperation: operations.accept }),
    });
  }

  async function statesOf(id: string): Promise<string[]> {
    return (await get(id)).environments.map(({ state }: RolloutItem) => state);
  }

  /** Ends the updates that are under way. Returns how many there were. */
  async function endRunning(
    id: string,
    fails: (environmentId: string) => boolean = () => false,
    kind: FailureKind = "refused",
  ): Promise<number> {
    const { fail, succeed } = test.current;
    const running = (await get(id)).environments.filter(({ state }: RolloutItem) => state === "running");
    for (const { id: environmentId, operation_id } of running) {
      if (fails(environmentId)) await fail(operation_id, "The site with the update does not answer.", kind);
      else await succeed(operation_id);
    }
    return running.length;
  }

  return { test, plugin, pathOf, ask, get, environments, goOn, statesOf, endRunning };
}
