/** Helpers for tests of rollouts through the HTTP API. */
import { randomUUID } from "node:crypto";
import { makeRolloutStart } from "@sitewright/server/app/packages/rolloutStarts.ts";
import type { FailureKind } from "@sitewright/server/operations/engine/operation.ts";
import { runRollouts } from "@sitewright/server/reconcilers/runRollouts.ts";
import { putPackages } from "@sitewright/server/testing/packages.ts";
import { beforeEach } from "vitest";
import { testSettings, useTestServer } from "./server.ts";

export type RolloutItem = { id: string; state: string; operation_id: string; reason: string | null };

/** Call once per test file. The package source offers version 2.0 of every package. */
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
  /** A plugin with a new name for each test. */
  const plugin = { name: "" };
  beforeEach(() => {
    plugin.name = `shop-${randomUUID()}`;
  });

  const pathOf = (id = "", server = test.current) =>
    `/v2/company/${server.company.company_id}/rollouts${id === "" ? "" : `/${id}`}`;

  const create = (body: object, server = test.current) =>
    server.call("POST", pathOf("", server), { body: { type: "plugin", name: plugin.name, ...body } });

  const get = async (id: string) => (await test.current.call("GET", pathOf(id))).body.rollout;

  /** Creates environments that have the plugin, sorted by the names of their sites. Returns their ids. */
  async function environments(
    count: number,
    version = "1.0",
    update_version: string | null = "2.0",
  ): Promise<string[]> {
    const { addSite, call, database } = test.current;
    const ids: string[] = [];
    for (let index = 0; index < count; index += 1) {
      const siteId = await addSite({ display_name: `${index} ${randomUUID()}` });
      const id = (await call("GET", `/v2/sites/${siteId}`)).body.site.environments[0].id;
      await putPackages(database, id, [{ name: plugin.name, version }]);
      await database.updateTable("packages").set({ update_version }).where("environment_id", "=", id).execute();
      ids.push(id);
    }
    return ids;
  }

  /** Runs the reconciler once. */
  function reconcile(): Promise<void> {
    const { database, operations } = test.current;
    return runRollouts({
      database,
      begin: makeRolloutStart({ settings: testSettings, acceptOperation: operations.accept }),
    });
  }

  async function statesOf(id: string): Promise<string[]> {
    return (await get(id)).environments.map(({ state }: RolloutItem) => state);
  }

  /** Ends the running updates: with a failure if `fails` returns true. Returns their number. */
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

  return { test, plugin, pathOf, create, get, environments, reconcile, statesOf, endRunning };
}
