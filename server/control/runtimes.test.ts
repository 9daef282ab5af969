import { randomUUID } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { exampleSpec } from "@sitewright/runtimes/conformance/conformance.ts";
import { createFakeRuntime } from "@sitewright/runtimes/fake/runtime.ts";
import { beforeEach, expect, onTestFinished, test } from "vitest";
import { addCompany, addSite } from "../store/testing/rows.ts";
import { CannotStart } from "../supervisedProcess.ts";
import { useTestDatabase } from "../testing/database.ts";
import { openRuntimes } from "./runtimes.ts";

const own = useTestDatabase();
const phpVersions = ["8.4"];
let fakes: Readonly<Record<"playground" | "other", ReturnType<typeof createFakeRuntime>>>;

beforeEach(async () => {
  const folder = await mkdtemp(path.join(tmpdir(), "runtimes-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const other = createFakeRuntime({ folder: path.join(folder, "other") });
  fakes = {
    playground: createFakeRuntime({ folder: path.join(folder, "playground") }),
    other: { ...other, capabilities: async () => ({ ...(await other.capabilities()), phpVersions }) },
  };
});

/** Adds an environment that is recorded with the runtime. */
async function addEnvironment(runtime: string): Promise<{ readonly id: string; readonly number: number }> {
  const { companyId } = await addCompany(own.database);
  const { environmentId } = await addSite(own.database, companyId);
  return own.database
    .updateTable("environments")
    .set({ runtime })
    .where("id", "=", environmentId)
    .returning(["id", "number"])
    .executeTakeFirstOrThrow();
}

test("calls about an environment go to the runtime that the database has for it at that moment", async () => {
  const environment = await addEnvironment("other");
  const { runtime } = await openRuntimes(own.database, fakes);
  await runtime.provision({ ...exampleSpec(), environment });
  expect(await fakes.other.layout(environment)).not.toBeNull();
  expect(await fakes.playground.layout(environment)).toBeNull();
  expect(await runtime.layout(environment)).not.toBeNull();
  await own.database
    .updateTable("environments")
    .set({ runtime: "playground" })
    .where("id", "=", environment.id)
    .execute();
  expect(await runtime.layout(environment)).toBeNull();
  expect(await runtime.layout({ id: randomUUID(), number: 1 })).toBeNull();
});

test("the capabilities are those of each runtime", async () => {
  const { capabilities } = await openRuntimes(own.database, fakes);
  expect(capabilities.get("other")?.phpVersions).toEqual(phpVersions);
  expect(capabilities.get("playground")?.phpVersions).toContain("8.2");
});

test("nothing starts if no region has the runtime of environments, and the message says how to name it", async () => {
  const { id } = await addEnvironment("native");
  const opened = openRuntimes(own.database, fakes);
  await expect(opened).rejects.toThrow(CannotStart);
  await expect(opened).rejects.toThrow(
    /runtime native, which no region has\. Name it, as in SITEWRIGHT_REGIONS=this-machine,fast=native\. .* move the environments/,
  );
  await own.database.deleteFrom("environments").where("id", "=", id).execute();
});

test("nothing starts if environments have a runtime that is not there", async () => {
  const { id } = await addEnvironment("later");
  const opened = openRuntimes(own.database, fakes);
  await expect(opened).rejects.toThrow(CannotStart);
  await expect(opened).rejects.toThrow(/runtime later, which .* Start the version that created them/);
  await own.database.deleteFrom("environments").where("id", "=", id).execute();
});
