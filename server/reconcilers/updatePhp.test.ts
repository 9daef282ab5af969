import { randomUUID } from "node:crypto";
import { describe, expect, test } from "vitest";
import { addCompany, addSite } from "../store/testing/rows.ts";
import { useTestDatabase } from "../testing/database.ts";
import { nextVersion, updatePhp } from "./updatePhp.ts";

const world = useTestDatabase();
const versions = ["8.1", "8.2", "8.3", "8.10"];
const offered = new Map([["playground", versions]]);

test.each([
  ["8.1", ["8.1"], "8.2"],
  ["8.1", ["8.1", "8.2"], "8.3"],
  ["8.3", ["8.3"], "8.10"],
  ["8.10", ["8.10"], null],
])("version %s, if %j have reached end of life, is replaced by %s", (version, ended, next) => {
  expect(nextVersion(version, ended, versions)).toBe(next);
});

describe("environments on a version that has reached end of life", () => {
  interface Choices {
    readonly runtime?: string;
    readonly phpVersion?: string;
    readonly isOptOut?: boolean;
  }

  async function environment({ runtime = "playground", phpVersion = "8.1", isOptOut = false }: Choices = {}) {
    const { companyId } = await addCompany(world.database);
    const { environmentId, id: siteId } = await addSite(world.database, companyId);
    await world.database
      .updateTable("environments")
      .set({ runtime, php_version: phpVersion, is_opt_out_from_automatic_php_update: isOptOut })
      .where("id", "=", environmentId)
      .execute();
    return { companyId, siteId, id: environmentId };
  }

  async function addChange(
    { companyId, siteId, id }: Awaited<ReturnType<typeof environment>>,
    state: "running" | "failed" | "succeeded",
    daysAgo: number,
  ): Promise<void> {
    const { database } = world;
    const row = { company_id: companyId, site_id: siteId };
    const activity = await database
      .insertInto("activity")
      .values({ ...row, category: "siteActions", type: "modifyPhpVersion", parameters: "{}" })
      .returning("id")
      .executeTakeFirstOrThrow();
    await database
      .insertInto("operations")
      .values({
        ...row,
        id: `php:modify-version-${randomUUID()}`,
        kind: "modifyPhpVersion",
        environment_id: id,
        activity_id: activity.id,
        state,
        steps_total: 2,
        input: "{}",
        secret: null,
        reference_id: randomUUID(),
        finished_at: state === "running" ? null : new Date(Date.now() - daysAgo * 86_400_000),
      })
      .execute();
  }

  async function changed(ids: readonly string[], byRuntime = offered): Promise<(string | undefined)[]> {
    const changes = new Map<string, string>();
    const change = async ({ id }: { readonly id: string }, version: string) => {
      changes.set(id, version);
    };
    await updatePhp({ database: world.database, ended: ["8.1"], offered: byRuntime, change });
    await world.database.updateTable("environments").set({ php_version: "8.3" }).execute();
    return ids.map((id) => changes.get(id));
  }

  test("are moved unless they opted out, and others are not", async () => {
    const [ended, current, optedOut] = [
      await environment(),
      await environment({ phpVersion: "8.2" }),
      await environment({ isOptOut: true }),
    ];
    expect(await changed([ended.id, current.id, optedOut.id])).toEqual(["8.2", undefined, undefined]);
  });

  test("are not moved during a change, nor within a week after one failed", async () => {
    const [running, failed, failedLongAgo, succeeded] = [
      await environment(),
      await environment(),
      await environment(),
      await environment(),
    ];
    await addChange(running, "running", 0);
    await addChange(failed, "failed", 6);
    await addChange(failedLongAgo, "failed", 8);
    await addChange(succeeded, "succeeded", 1);
    const found = await changed([running.id, failed.id, failedLongAgo.id, succeeded.id]);
    expect(found).toEqual([undefined, undefined, "8.2", "8.2"]);
  });

  test("are moved to a version of their own runtime", async () => {
    const [here, there, nowhere] = [
      await environment(),
      await environment({ runtime: "other" }),
      await environment({ runtime: "unknown" }),
    ];
    const both = new Map([...offered, ["other", ["8.1", "8.3"]]]);
    expect(await changed([here.id, there.id, nowhere.id], both)).toEqual(["8.2", "8.3", undefined]);
  });

  test("for which there is no newer version don't block others", async () => {
    for (let count = 0; count < 5; count += 1) await environment({ phpVersion: "8.10" });
    const { id } = await environment();
    const moved: string[] = [];
    const change = async (each: { readonly id: string }) => {
      moved.push(each.id);
    };
    await updatePhp({ database: world.database, ended: ["8.1", "8.10"], offered, change });
    await world.database.updateTable("environments").set({ php_version: "8.3" }).execute();
    expect(moved).toEqual([id]);
  });

  test("are moved a few at a time", async () => {
    const all = [];
    for (let count = 0; count < 7; count += 1) all.push((await environment()).id);
    expect((await changed(all)).filter((version) => version !== undefined)).toHaveLength(5);
  });
});
