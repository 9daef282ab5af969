import { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { expect, test } from "vitest";
import { exampleRequest, exampleSpec } from "./conformance/conformance.ts";
import { createFakeServing } from "./fake/serving.ts";
import { withMoves } from "./movingServing.ts";
import type { PhpRequest, PhpResponse, ServedEnvironment } from "./serving.ts";

/** An environment that names the runtime, or none. */
function servedBy(runtime: string | null): ServedEnvironment {
  const { environment } = exampleSpec();
  const layout = { release: 1, documentRoot: "/public", overlays: {}, multisite: null };
  return { ...environment, ...layout, phpVersion: "8.3", ...(runtime !== null && { runtime }) };
}

const request = exampleRequest("http://example.localhost");
const runtimes = ["playground", "other"];
const pageNamed = (name: string) => ({ status: 200, headers: [], body: Readable.from([name]) });

/** A serving side whose pages consist of the name of the runtime, also in trials. `whenAsked` is called first. */
function servingOfBoth(whenAsked: (runtime: string, request: PhpRequest) => Promise<void> = async () => undefined) {
  const served = new Map<string, ServedEnvironment>();
  const page = async ({ runtime = "playground" }: ServedEnvironment, asked: PhpRequest) => {
    await whenAsked(runtime, asked);
    return pageNamed(runtime);
  };
  const answer = (id: string, asked: PhpRequest) => page(served.get(id) ?? servedBy(null), asked);
  const serving = createFakeServing({ answer, trial: page });
  return {
    ...serving,
    setEnvironments: (next: readonly ServedEnvironment[]) => {
      served.clear();
      for (const environment of next) served.set(environment.id, environment);
      return serving.setEnvironments(next);
    },
  };
}

const combined = () => withMoves(servingOfBoth(), { runtimes });
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

/** A serving side whose requests under the playground end when the test says so. */
function movingServing(moveSeconds?: number) {
  const asked: string[] = [];
  const finishing = Promise.withResolvers<void>();
  const both = servingOfBoth(async (runtime, { url }) => {
    asked.push(`${runtime} ${url}`);
    if (runtime === "playground") await finishing.promise;
  });
  const serving = withMoves(both, { runtimes, ...(moveSeconds !== undefined && { moveSeconds }) });
  return { serving, asked, finish: () => finishing.resolve() };
}

const to = (url: string, changes: Partial<PhpRequest> = {}) => ({ ...request, url, ...changes });

test("when an environment moves, new requests wait until the former runtime has finished; its list is in force at once", async () => {
  const { serving, asked, finish } = movingServing();
  const [moving, neighbour] = [servedBy("playground"), servedBy("other")];
  await serving.setEnvironments([moving, neighbour]);
  const before = pageOf(serving.handle(moving.id, to("/before")));
  await serving.setEnvironments([{ ...moving, runtime: "other" }, neighbour]);
  const visitor = pageOf(serving.handle(moving.id, to("/after")));
  const trial = pageOf(serving.runTrial({ ...moving, runtime: "other" }, to("/trial")));
  expect(await pageOf(serving.handle(neighbour.id, to("/neighbour")))).toBe("other");
  const own = pageOf(serving.handle(moving.id, to("/own", { fromPhp: true })));
  await expect.poll(() => asked).toEqual(["playground /before", "other /neighbour", "playground /own"]);
  finish();
  expect(await Promise.all([before, own, visitor])).toEqual(["playground", "playground", "other"]);
  expect(await trial).toBe("other");
  expect(asked.slice(3).toSorted()).toEqual(["other /after", "other /trial"]);
});

test("a request that takes too long does not stop the move", async () => {
  const { serving } = movingServing(0.01);
  const environment = servedBy("playground");
  await serving.setEnvironments([environment]);
  void serving.handle(environment.id, to("/endless"));
  await serving.setEnvironments([{ ...environment, runtime: "other" }]);
  expect(await pageOf(serving.handle(environment.id, to("/after")))).toBe("other");
});

test("an environment that moves back before the former runtime has finished is served there again", async () => {
  const { serving, asked, finish } = movingServing();
  const environment = servedBy("playground");
  await serving.setEnvironments([environment]);
  const before = pageOf(serving.handle(environment.id, to("/before")));
  await serving.setEnvironments([{ ...environment, runtime: "other" }]);
  const held = pageOf(serving.handle(environment.id, to("/held")));
  await serving.setEnvironments([environment]);
  const after = pageOf(serving.handle(environment.id, to("/after")));
  const all = ["playground /after", "playground /before", "playground /held"];
  await expect.poll(() => asked.toSorted()).toEqual(all);
  finish();
  expect(await Promise.all([before, held, after])).toEqual(["playground", "playground", "playground"]);
});

test("an environment that is removed while it moves is unavailable, also to those who wait", async () => {
  const { serving, finish } = movingServing();
  const environment = servedBy("playground");
  await serving.setEnvironments([environment]);
  const before = serving.handle(environment.id, to("/before"));
  await serving.setEnvironments([{ ...environment, runtime: "other" }]);
  const held = serving.handle(environment.id, to("/held"));
  await serving.setEnvironments([]);
  await expect(held).rejects.toMatchObject({ reason: "unavailable" });
  finish();
  await before;
});

test("visitors who leave while they wait are not served", async () => {
  const { serving, asked, finish } = movingServing();
  const environment = servedBy("playground");
  await serving.setEnvironments([environment]);
  void serving.handle(environment.id, to("/before"));
  await serving.setEnvironments([{ ...environment, runtime: "other" }]);
  const leaving = new AbortController();
  const held = serving.handle(environment.id, to("/held", { signal: leaving.signal }));
  leaving.abort();
  finish();
  await expect(held).rejects.toMatchObject({ reason: "unavailable" });
  expect(asked).toEqual(["playground /before"]);
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
