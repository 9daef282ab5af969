import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { text } from "node:stream/consumers";
import { afterEach, beforeEach, expect, test } from "vitest";
import { exampleRequest, exampleSpec, testRuntime } from "../conformance.ts";
import { RuntimeFailure } from "../runtime.ts";
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

test("a fault happens as often as it was asked for, and to whichever process meets it", async () => {
  await createFakeRuntime({ folder }).script.setFaults([
    { method: "provision", when: "middle", what: "fail", message: "No room left.", times: 1 },
  ]);
  const runtime = createFakeRuntime({ folder });
  const spec = exampleSpec();
  await expect(runtime.provision(spec)).rejects.toEqual(new RuntimeFailure("No room left."));
  expect(await runtime.layout(spec.environment)).toBeNull();
  await runtime.provision(spec);
  expect(await runtime.layout(spec.environment)).not.toBeNull();
});

test("a fault after the work leaves the work done", async () => {
  const runtime = createFakeRuntime({ folder });
  const spec = exampleSpec();
  await runtime.script.setFaults([
    { method: "provision", environmentId: spec.environment.id, when: "after", what: "break" },
  ]);
  await expect(runtime.provision(spec)).rejects.toThrow("provision");
  expect(await runtime.layout(spec.environment)).not.toBeNull();
  await runtime.provision(exampleSpec());
});

test("calls are recorded in order", async () => {
  const runtime = createFakeRuntime({ folder });
  const { environment } = exampleSpec();
  await runtime.retire(environment);
  await runtime.destroy(environment);
  const begun = (await runtime.script.calls()).filter((call) => call.when === "before");
  expect(begun.map((call) => call.method)).toEqual(["retire", "destroy"]);
});

test("the serving side escapes the title and answers what a test wants", async () => {
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
