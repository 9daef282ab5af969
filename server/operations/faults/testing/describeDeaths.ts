/** Defines tests of operations with a real runtime, whose process is killed during their work. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { World } from "../../../testing/world.ts";
import { operationDefinitions } from "../../definitions.ts";
import { type Case, deathCases } from "./cases.ts";
import { runDeathsInTurn, type Spare, type Subject } from "./crashHarness.ts";
import { startProcess } from "./runners.ts";

/** Kills come at any moment of a step: creating a site takes some 50 ms, its first page some 150 ms. */
const longestWorkMilliseconds = 100;
const timeout = 300_000;

/** Subjects by description. `isCovered`: whether a point is tested elsewhere. */
export function describeDeaths(
  makeWorld: () => Promise<World>,
  subjects: Readonly<Record<string, Subject>>,
  isCovered: (point: string) => boolean = () => false,
): void {
  let world: World;
  const spare: Spare = { runner: null };
  beforeAll(async () => {
    world = await makeWorld();
  });
  afterAll(async () => {
    await spare.runner?.end();
    await world[Symbol.asyncDispose]();
  });

  describe.each(Object.entries(subjects))("%s", { timeout }, (_, subject) => {
    async function dieInEach(ends: Case["ends"]): Promise<void> {
      const { duringWork } = deathCases(operationDefinitions(world.services)[subject.kind]);
      const inTurn = duringWork.filter((each) => each.ends === ends && !isCovered(each.fault.killAt ?? ""));
      expect(inTurn.length).toBeGreaterThan(0);
      // Steps are undone in reverse order.
      if (ends === "failed") inTurn.reverse();
      const options = { start: startProcess, spare, longestWorkMilliseconds };
      expect(await runDeathsInTurn(subject, world, inTurn, options)).toEqual([]);
    }

    test("completes if its process is killed during each step", () => dieInEach("succeeded"));
    test("leaves no trace if it fails and its process is killed during each undo", () => dieInEach("failed"));
  });
}
