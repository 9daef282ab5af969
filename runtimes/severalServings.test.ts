import { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { expect, test } from "vitest";
import { exampleRequest, exampleSpec } from "./conformance/conformance.ts";
import { createFakeServing } from "./fake/serving.ts";
import type { PhpResponse, ServedEnvironment, Serving } from "./serving.ts";
import { combineServings } from "./severalServings.ts";

/** A serving side whose pages, also in trials, consist of its name. */
function servingOf(name: string): Serving {
  const page = async () => ({ status: 200, headers: [], body: Readable.from([name]) });
  return createFakeServing({ answer: page, trial: page });
}

/** An environment that names the runtime, or none. */
function servedBy(runtime: string | null): ServedEnvironment {
  const { environment } = exampleSpec();
  const layout = { release: 1, documentRoot: "/public", overlays: {}, multisite: null };
  return { ...environment, ...layout, phpVersion: "8.3", ...(runtime !== null && { runtime }) };
}

const request = exampleRequest("http://example.localhost");
const combined = () => combineServings({ playground: servingOf("playground"), other: servingOf("other") });
const pageOf = async (response: Promise<PhpResponse>) => text((await response).body);

test("each environment is served by its runtime; if it names none, by the playground", async () => {
  const serving = combined();
  const environments = [servedBy("other"), servedBy("playground"), servedBy(null)];
  await serving.setEnvironments(environments);
  const pages = environments.map(({ id }) => pageOf(serving.handle(id, request)));
  expect(await Promise.all(pages)).toEqual(["other", "playground", "playground"]);
});

test("an environment moves to another runtime with the next list, and its usage is that of both", async () => {
  const serving = combined();
  const environment = servedBy("playground");
  await serving.setEnvironments([environment]);
  await serving.handle(environment.id, request);
  await serving.setEnvironments([{ ...environment, runtime: "other" }]);
  expect(await pageOf(serving.handle(environment.id, request))).toBe("other");
  expect(serving.usage()).toEqual([expect.objectContaining({ environmentId: environment.id, phpRequests: 2 })]);
});

test("a trial runs under the runtime that it names, whichever serves the environment", async () => {
  const serving = combined();
  const environment = servedBy("playground");
  await serving.setEnvironments([environment]);
  expect(await pageOf(serving.runTrial({ ...environment, runtime: "other" }, request))).toBe("other");
  expect(await pageOf(serving.runTrial(environment, request))).toBe("playground");
});

test("an environment is unavailable if it is not served, or its runtime is not there; others are served", async () => {
  const serving = combined();
  const [gone, unknown, other] = [servedBy("other"), servedBy("unknown"), servedBy("other")];
  await serving.setEnvironments([gone]);
  await serving.setEnvironments([unknown, other]);
  for (const { id } of [gone, unknown]) {
    await expect(serving.handle(id, request)).rejects.toMatchObject({ reason: "unavailable" });
  }
  await expect(serving.runTrial(unknown, request)).rejects.toMatchObject({ reason: "unavailable" });
  expect(await pageOf(serving.handle(other.id, request))).toBe("other");
});

test("closing closes all", async () => {
  const servings = { playground: servingOf("playground"), other: servingOf("other") };
  const environments = [servedBy("playground"), servedBy("other")];
  const serving = combineServings(servings);
  await serving.setEnvironments(environments);
  await serving.close();
  for (const { id } of environments) {
    await expect(serving.handle(id, request)).rejects.toMatchObject({ reason: "unavailable" });
  }
});
