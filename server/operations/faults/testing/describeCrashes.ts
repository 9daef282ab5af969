/** Defines the crash tests of one group of operations. Each test file has its own worlds. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { makeWorld, type World } from "../../../testing/world.ts";
import { operationDefinitions } from "../../definitions.ts";
import { deathCases, failureCases, repeatedCases } from "./cases.ts";
import { runDeaths, runFailures, type Spare, type Subject } from "./crashHarness.ts";
import { startProcess } from "./runners.ts";

/** Generous: the processes are started and killed one after the other. */
const timeoutMilliseconds = 400_000;

/**
 * Subjects by description. `alike` have the same steps as one of the subjects: their failures are tested at every point, but
 * not their deaths.
 */
export function describeCrashes(
  subjects: Readonly<Record<string, Subject>>,
  alike: Readonly<Record<string, Subject>> = {},
): void {
  let world: World;
  /** The world that another process works in. */
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

  describe.each(Object.entries({ ...subjects, ...alike }))("%s either completes or leaves no trace", (_, subject) => {
    test("when it fails at any point", async () => {
      expect(await runFailures(subject, world, failureCases(definitionOf(subject)))).toEqual([]);
    });

    if (subject.isAtMostOnce) return;
    test("when each of its steps runs twice", async () => {
      expect(await runFailures(subject, world, repeatedCases(definitionOf(subject)))).toEqual([]);
    });
  });

  describe.each(Object.entries(subjects))("%s either completes or leaves no trace", (_, subject) => {
    test("when its process dies between any two steps", { timeout: timeoutMilliseconds }, async () => {
      expect(await runDeaths(subject, world, deathCases(definitionOf(subject)).between)).toEqual([]);
    });

    test("when its process is killed during any step or undo", { timeout: timeoutMilliseconds }, async () => {
      const options = { start: startProcess, spare };
      expect(await runDeaths(subject, shared, deathCases(definitionOf(subject)).duringWork, options)).toEqual([]);
    });
  });
}
