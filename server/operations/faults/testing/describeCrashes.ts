/** The tests of one group of operations; each file of them has worlds of its own. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { makeWorld, type World } from "../../../testing/world.ts";
import { operationDefinitions } from "../../definitions.ts";
import { deathCases, failureCases, repeatedCases } from "./cases.ts";
import { runDeaths, runFailures, type Spare, type Subject } from "./crashHarness.ts";
import { startProcess } from "./runners.ts";

/** Processes are started and killed one after the other, on whatever machine. */
const patienceMilliseconds = 400_000;

/**
 * Subjects by what is done. `alike` have the steps of one of the subjects: they fail at each point, and die at none, because
 * those steps have died there.
 */
export function describeCrashes(
  subjects: Readonly<Record<string, Subject>>,
  alike: Readonly<Record<string, Subject>> = {},
): void {
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

  const definitionOf = ({ kind }: Subject) => operationDefinitions(world.services)[kind];

  describe.each(Object.entries({ ...subjects, ...alike }))("%s is finished or never happened", (_, subject) => {
    test("wherever it fails", async () => {
      expect(await runFailures(subject, world, failureCases(definitionOf(subject)))).toEqual([]);
    });

    if (subject.isAtMostOnce) return;
    test("where each of its steps is done twice", async () => {
      expect(await runFailures(subject, world, repeatedCases(definitionOf(subject)))).toEqual([]);
    });
  });

  describe.each(Object.entries(subjects))("%s is finished or never happened", (_, subject) => {
    test("wherever its process dies between two pieces of work", { timeout: patienceMilliseconds }, async () => {
      expect(await runDeaths(subject, world, deathCases(definitionOf(subject)).between)).toEqual([]);
    });

    test("wherever its process is killed during its work", { timeout: patienceMilliseconds }, async () => {
      const options = { start: startProcess, spare };
      expect(await runDeaths(subject, shared, deathCases(definitionOf(subject)).duringWork, options)).toEqual([]);
    });
  });
}
