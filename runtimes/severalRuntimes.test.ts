import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { exampleSpec, testRuntime } from "./conformance/conformance.ts";
import { createFakeRuntime } from "./fake/runtime.ts";
import { createFakeServing } from "./fake/serving.ts";
import { type EnvironmentRef, type EnvironmentRuntime, RuntimeFailure } from "./runtime.ts";
import { combineRuntimes } from "./severalRuntimes.ts";

async function makeFolder(): Promise<string> {
  return mkdtemp(path.join(tmpdir(), "several-"));
}

/** Two fakes that share nothing. */
function fakesIn(folder: string) {
  const fakeIn = (name: string) => createFakeRuntime({ folder: path.join(folder, name) });
  return { one: fakeIn("one"), two: fakeIn("two") };
}

// Each method finds the environment only if it is the second runtime that is called.
testRuntime("the second of two runtimes", async () => {
  const folder = await makeFolder();
  const fakes = fakesIn(folder);
  const findRuntimes = async (ids: readonly string[]) => new Map(ids.map((id) => [id, "two"]));
  const { name, prepare, capabilities } = fakes.two;
  return {
    runtime: { ...combineRuntimes(fakes, findRuntimes), name, prepare, capabilities },
    serving: createFakeServing(),
    close: () => rm(folder, { recursive: true }),
  };
});

describe("two runtimes", () => {
  let fakes: ReturnType<typeof fakesIn>;
  let runtime: EnvironmentRuntime;
  const recorded = new Map<string, string>();
  let lookUps = 0;

  beforeEach(async () => {
    const folder = await makeFolder();
    onTestFinished(() => rm(folder, { recursive: true }));
    fakes = fakesIn(folder);
    lookUps = 0;
    runtime = combineRuntimes(fakes, async (ids) => {
      lookUps += 1;
      return new Map(ids.flatMap((id) => [...recorded].filter(([known]) => known === id)));
    });
  });

  /** Creates an environment under the runtime. */
  async function provisioned(name: "one" | "two"): Promise<EnvironmentRef> {
    const spec = exampleSpec();
    await fakes[name].provision(spec);
    recorded.set(spec.environment.id, name);
    return spec.environment;
  }

  test("a runtime that the call names is used without looking it up", async () => {
    const environment = await provisioned("two");
    recorded.set(environment.id, "one");
    expect(await runtime.layout(environment)).toBeNull();
    lookUps = 0;
    expect(await runtime.layout({ ...environment, runtime: "two" })).not.toBeNull();
    expect(lookUps).toBe(0);
  });

  test("an environment that is not recorded does not exist", async () => {
    const { environment } = exampleSpec();
    expect(await runtime.layout(environment)).toBeNull();
    await runtime.destroy(environment);
  });

  test("a call about an environment of an unknown runtime fails, and names the runtime", async () => {
    const environment = { ...(await provisioned("one")), runtime: "three" };
    await expect(runtime.layout(environment)).rejects.toEqual(
      new RuntimeFailure("This installation has no runtime three."),
    );
  });

  test("questions about many environments are looked up once, and answered by all runtimes together", async () => {
    const { signal } = new AbortController();
    const environments = [await provisioned("one"), await provisioned("two"), await provisioned("one")];
    const ids = environments.map(({ id }) => id).sort();
    const all = [...environments, { ...exampleSpec().environment, runtime: "three" }];
    expect([...(await runtime.nextEvents(all, signal)).keys()].sort()).toEqual(ids);
    expect(lookUps).toBe(1);
    expect([...(await runtime.packages(all, signal)).keys()].sort()).toEqual(ids);
  });

  test("unchanged environments are those of all runtimes together", async () => {
    const environments = [await provisioned("one"), await provisioned("two")];
    const asked: string[][] = [];
    const unchangedPackages: EnvironmentRuntime["unchangedPackages"] = async (own) => {
      asked.push(own.map(({ id }) => id));
      return new Set(own.map(({ id }) => id));
    };
    const both = combineRuntimes(
      { one: { ...fakes.one, unchangedPackages }, two: { ...fakes.two, unchangedPackages } },
      async () => recorded,
    );
    const unchanged = await both.unchangedPackages(environments.map((each) => ({ ...each, readAt: new Date() })));
    expect([...unchanged]).toEqual(environments.map(({ id }) => id));
    expect(asked).toEqual(environments.map(({ id }) => [id]));
  });

  test("free disk space is the smaller one", async () => {
    const freeDisk = async () => 5;
    const one = combineRuntimes({ one: { ...fakes.one, freeDisk }, two: fakes.two }, async () => new Map());
    const two = combineRuntimes({ one: fakes.one, two: { ...fakes.two, freeDisk } }, async () => new Map());
    expect([await one.freeDisk(), await two.freeDisk()]).toEqual([5, 5]);
  });
});

test("a single runtime has all environments, so none is looked up", async () => {
  const folder = await makeFolder();
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const only = createFakeRuntime({ folder });
  const runtime = combineRuntimes({ only }, () => Promise.reject(new Error("Nothing needs to be looked up.")));
  expect(await runtime.layout(exampleSpec().environment)).toBeNull();
  expect(() => combineRuntimes({}, async () => new Map())).toThrow("needs a runtime");
});
