import { mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { text } from "node:stream/consumers";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { Pair } from "../conformance/actions.ts";
import { exampleRequest, exampleSpec, testRuntime } from "../conformance/conformance.ts";
import { type EnvironmentRef, RuntimeFailure } from "../runtime.ts";
import { readTables, writeTables } from "./database.ts";
import { createFakeRuntime } from "./runtime.ts";
import { createFakeServing } from "./serving.ts";

testRuntime("fake", async () => {
  const folder = await mkdtemp(path.join(tmpdir(), "fake-"));
  return {
    runtime: createFakeRuntime({ folder }),
    serving: createFakeServing(),
    close: () => rm(folder, { recursive: true }),
  };
});

let folder = "";
beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "fake-"));
});
afterEach(async () => {
  await rm(folder, { recursive: true });
});

test("a fault happens as often as set, in any process", async () => {
  await createFakeRuntime({ folder }).script.setFaults([
    { method: "provision", when: "middle", kind: "fail", message: "No room left.", times: 1 },
  ]);
  const runtime = createFakeRuntime({ folder });
  const spec = exampleSpec();
  await expect(runtime.provision(spec)).rejects.toEqual(new RuntimeFailure("No room left."));
  expect(await runtime.layout(spec.environment)).toBeNull();
  await runtime.provision(spec);
  expect(await runtime.layout(spec.environment)).not.toBeNull();
});

test("a fault after the work keeps the result of the work", async () => {
  const runtime = createFakeRuntime({ folder });
  const spec = exampleSpec();
  await runtime.script.setFaults([
    { method: "provision", environmentId: spec.environment.id, when: "after", kind: "break" },
  ]);
  await expect(runtime.provision(spec)).rejects.toThrow("provision");
  expect(await runtime.layout(spec.environment)).not.toBeNull();
  await runtime.provision(exampleSpec());
});

test("a method can wait in its middle until a file exists", async () => {
  const runtime = createFakeRuntime({ folder });
  const until = path.join(folder, "go-on");
  const { script } = runtime;
  await script.setFaults([{ method: "provision", when: "middle", kind: "wait", until, times: 1 }]);
  const spec = exampleSpec();
  const provisioned = runtime.provision(spec);
  await expect.poll(async () => (await script.calls()).at(-1)).toMatchObject({ method: "provision", when: "middle" });
  expect(await runtime.layout(spec.environment)).toBeNull();
  await writeFile(until, "");
  await provisioned;
  expect(await runtime.layout(spec.environment)).not.toBeNull();
});

test.each([
  ["replaced", "The environment was replaced meanwhile."],
  ["removed", "The environment no longer exists."],
])("a snapshot of an environment that is %s meanwhile fails and leaves nothing", async (change, sentence) => {
  const runtime = createFakeRuntime({ folder });
  const { environment } = exampleSpec();
  await runtime.provision({ ...exampleSpec(), environment });
  const nothing = { files: "none", database: "none", addresses: [] } as const;
  await runtime.stage({ environment, source: environment, token: "next", ...nothing });
  const until = path.join(folder, "go-on");
  await runtime.script.setFaults([{ method: "snapshot", when: "middle", kind: "wait", until, times: 1 }]);
  const taken = runtime.snapshot(environment, path.join(folder, "work", "snapshot"));
  const refused = expect(taken).rejects.toEqual(new RuntimeFailure(sentence));
  await expect.poll(async () => (await runtime.script.calls()).at(-1)).toMatchObject({ when: "middle" });
  await (change === "removed" ? runtime.destroy(environment) : runtime.switchTo(environment, "next"));
  await writeFile(until, "");
  await refused;
  expect(await readdir(path.join(folder, "work"))).toEqual([]);
});

test("records calls in order", async () => {
  const runtime = createFakeRuntime({ folder });
  const { environment } = exampleSpec();
  await runtime.retire(environment);
  await runtime.destroy(environment);
  const begun = (await runtime.script.calls()).filter((call) => call.when === "before");
  expect(begun.map((call) => call.method)).toEqual(["retire", "destroy"]);
});

describe("two fake environments", () => {
  let runtime: ReturnType<typeof createFakeRuntime>;
  let spec: Pair["spec"];
  beforeEach(async () => {
    runtime = createFakeRuntime({ folder });
    const [source, target] = [exampleSpec({ title: "Source" }), exampleSpec({ title: "Target" })];
    for (const each of [source, target]) await runtime.provision(each);
    spec = {
      environment: target.environment,
      source: source.environment,
      files: "none",
      database: "all",
      addresses: [{ from: source.wordpress.address, to: target.wordpress.address }],
    };
  });

  const database = (environment: EnvironmentRef) =>
    path.join(folder, "environments", environment.id, "current", "database");

  test("have tables; a push copies some or all of them, with the target's address", async () => {
    const before = await readTables(database(spec.environment));
    await writeTables(database(spec.source), { ...(await readTables(database(spec.source))), wp_orders: [{ id: 1 }] });
    await runtime.stage({ ...spec, database: ["wp_orders"], token: "some" });
    await runtime.switchTo(spec.environment, "some");
    expect(await readTables(database(spec.environment))).toEqual({ ...before, wp_orders: [{ id: 1 }] });
    await runtime.stage({ ...spec, token: "all" });
    await runtime.switchTo(spec.environment, "all");
    const after = await readTables(database(spec.environment));
    expect(after.wp_options?.[0]).toEqual(before.wp_options?.[0]);
    expect(after.wp_options?.[1]).toEqual({ option_name: "blogname", option_value: "Source" });
  });

  test("report which rows a push would lose", async () => {
    await writeTables(database(spec.environment), { wp_posts: [{ ID: 7 }, { ID: 8 }], wp_mine: [{}] });
    const { lost } = await runtime.compare(spec);
    expect(lost).toEqual([
      { table: "wp_posts", rows: 2 },
      { table: "wp_mine", rows: 1 },
    ]);
    expect((await runtime.compare({ ...spec, database: ["wp_posts"] })).lost).toHaveLength(1);
  });

  test("lose rows with the same key and other content, but not rows that differ only by address", async () => {
    const [change] = spec.addresses;
    if (change === undefined) throw new Error("There is no address to change.");
    const rows = (home: string, title: string) => ({
      wp_posts: [
        { ID: 1, guid: `${home}/1` },
        { ID: 2, title },
      ],
    });
    await writeTables(database(spec.source), rows(change.from, "staging"));
    await writeTables(database(spec.environment), { wp_a: [{}], ...rows(change.to, "live") });
    expect((await runtime.compare(spec)).lost).toEqual([
      { table: "wp_a", rows: 1 },
      { table: "wp_posts", rows: 1 },
    ]);
    await writeTables(database(spec.environment), { wp_a: [{}], wp_posts: [{ ID: 1 }, { ID: 2 }] });
    expect((await runtime.compare(spec)).lost.map(({ table }) => table)).toEqual(["wp_posts", "wp_a"]);
  });

  test("can fail during staging, which leaves nothing, and after a switch, which stays", async () => {
    await runtime.script.setFaults([
      { method: "stage", when: "middle", kind: "break", times: 1 },
      { method: "switchTo", when: "after", kind: "fail", message: "Too late.", times: 1 },
    ]);
    await expect(runtime.stage({ ...spec, token: "one" })).rejects.toThrow("stage");
    expect(await runtime.staged(spec.environment, "one")).toBeNull();
    await runtime.stage({ ...spec, token: "one" });
    const staged = await runtime.staged(spec.environment, "one");
    await expect(runtime.switchTo(spec.environment, "one")).rejects.toEqual(new RuntimeFailure("Too late."));
    expect(await runtime.layout(spec.environment)).toEqual(staged);
  });
});

test("the serving side escapes the title and gives the answers a test sets", async () => {
  const runtime = createFakeRuntime({ folder });
  const spec = exampleSpec({ title: `"><script>` });
  await runtime.provision(spec);
  const layout = await runtime.layout(spec.environment);
  if (layout === null) throw new Error("no layout");
  const served = [{ ...spec.environment, ...layout, phpVersion: "8.3" }];
  const request = exampleRequest(spec.wordpress.address);
  const plain = createFakeServing();
  await plain.setEnvironments(served);
  expect(await text((await plain.handle(spec.environment.id, request)).body)).not.toContain("<script>");
  const broken = createFakeServing({ answer: async () => "deadline" });
  await broken.setEnvironments(served);
  await expect(broken.handle(spec.environment.id, request)).rejects.toMatchObject({ reason: "deadline" });
});
