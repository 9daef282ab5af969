/** The tests of one group of operations; each file of them has worlds of its own. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { makeWorld, type World } from "../../../testing/world.ts";
import { operationDefinitions } from "../../definitions.ts";
import { deathCases, failureCases, repeatedCases } from "./cases.ts";
import { runDeaths, runFailures, type Spare, type Subject } from "./crashHarness.ts";
import { startProcess } from "./runners.ts";

/** Processes are started and killed one after the other, on whatever machine. */
const patienceMilliseconds = 400_000;

/** By what is done. */
export function describeCrashes(subjects: Readonly<Record<string, Subject>>): void {
  let world: World;
  /** Another process works in it. */
  let shared: World;
  const spare: Spare = { runner: null };
  beforeAll(async () => {
    [world, shared] = await Promise.all([makeWorld(), makeWorld()]);
  });
  afterAll(async () => {
    await spare.runner?.end();
    await Promise.all([world[Symbol.asyncDispose](), shared[Symbol.asyncDispose]()]);
  });

  describe.each(Object.entries(subjects))("%s is finished or never happened", (_, subject) => {
    const definition = () => operationDefinitions(world.services)[subject.kind];

    test("wherever it fails", async () => {
      expect(await runFailures(subject, world, failureCases(definition()))).toEqual([]);
    });

    test.skipIf(subject.isAtMostOnce)("where each of its steps is done twice", async () => {
      expect(await runFailures(subject, world, repeatedCases(definition()))).toEqual([]);
    });

    test("wherever its process dies between two pieces of work", { timeout: patienceMilliseconds }, async () => {
      expect(await runDeaths(subject, world, deathCases(definition()).between)).toEqual([]);
    });

    test("wherever its process is killed amid its work", { timeout: patienceMilliseconds }, async () => {
      const options = { start: startProcess, spare };
      expect(await runDeaths(subject, shared, deathCases(definition()).amid, options)).toEqual([]);
    });
  });
}
