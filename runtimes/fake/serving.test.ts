import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { expect, onTestFinished, test } from "vitest";
import { exampleRequest, exampleSpec } from "../conformance/conformance.ts";
import type { ProvisionSpec } from "../runtime.ts";
import type { ServedEnvironment } from "../serving.ts";
import { createFakeServing } from "./serving.ts";

const request = exampleRequest("http://example.localhost:8081");

/** Creates an environment like the fake runtime does: its specification next to the web root. */
async function makeEnvironment(spec: ProvisionSpec): Promise<ServedEnvironment> {
  const folder = await mkdtemp(path.join(tmpdir(), "fake-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  const documentRoot = path.join(folder, "public");
  await mkdir(documentRoot);
  await writeFile(path.join(folder, "spec.json"), JSON.stringify(spec));
  return { ...spec.environment, release: 1, documentRoot, overlays: {}, multisite: null, phpVersion: "8.3" };
}

test("runTrial answers for a release without serving it", async () => {
  const served = await makeEnvironment(exampleSpec({ title: "Served" }));
  const next = { ...(await makeEnvironment(exampleSpec({ title: "Next" }))), id: served.id, release: 2 };
  const serving = createFakeServing();
  await serving.setEnvironments([served]);
  const trial = await serving.runTrial(next, request);
  expect(trial.status).toBe(200);
  expect(await text(trial.body)).toMatch(/<title>Next<\/title>.*<\/html>$/);
  expect(await trial.errors).toBe("");
  expect(await text((await serving.handle(served.id, request)).body)).toContain("<title>Served</title>");
});

test("an environment without WordPress has a page too", async () => {
  const plain = await makeEnvironment({ ...exampleSpec(), wordpress: null });
  expect((await createFakeServing().runTrial(plain, request)).status).toBe(200);
});

test("a missing environment is unavailable", async () => {
  const gone = { ...(await makeEnvironment(exampleSpec())), documentRoot: "/nowhere/public" };
  await expect(createFakeServing().runTrial(gone, request)).rejects.toMatchObject({ reason: "unavailable" });
});

test("a trial gets the answer a test sets, or else the front page", async () => {
  const environment = await makeEnvironment(exampleSpec({ title: "Usual" }));
  const broken = { status: 500, headers: [], body: Readable.from(["broken"]), errors: "PHP Parse error: x" };
  const serving = createFakeServing({
    trial: async ({ release }) => (release === 2 ? broken : release === 3 ? "deadline" : null),
  });
  const failed = await serving.runTrial({ ...environment, release: 2 }, request);
  expect([failed.status, await text(failed.body), await failed.errors]).toEqual([500, "broken", "PHP Parse error: x"]);
  await expect(serving.runTrial({ ...environment, release: 3 }, request)).rejects.toMatchObject({ reason: "deadline" });
  expect(await text((await serving.runTrial(environment, request)).body)).toContain("<title>Usual</title>");
});
