/**
 * Operations with the real runtime, killed during their work, because only real PHP shows what it leaves unfinished.
 */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { cloningEnvironment, pushing } from "../../testing/environments.ts";
import { makePlaygroundWorld } from "../../testing/playground.ts";
import { creatingSite, deletingSite } from "../../testing/sites.ts";
import type { World } from "../../testing/world.ts";
import { operationDefinitions } from "../definitions.ts";
import { type Case, deathCases } from "./testing/cases.ts";
import { runDeaths } from "./testing/crashHarness.ts";
import { startProcess } from "./testing/runners.ts";

/** Kills come at any moment of a step: creating a site takes some 50 ms, its first page some 150 ms. */
const longestWorkMilliseconds = 100;

let world: World;
beforeAll(async () => {
  world = await makePlaygroundWorld();
});
afterAll(async () => {
  await world[Symbol.asyncDispose]();
});

/** Steps that change only rows and the edge: they are the same with the fake runtime and are killed there. */
const coveredByFake = /^(?:run|undo) (?:estimate|hold|trial|freeze|publish|probe|withdraw):/;
const isHere = ({ fault: { killAt = "" } }: Case) => !coveredByFake.test(killAt);
const timeoutMilliseconds = 300_000;
const subjects = {
  "creating a site": creatingSite,
  "deleting a site": deletingSite,
  "cloning an environment": cloningEnvironment,
  "pushing everything": pushing("all", "all"),
};

describe.each(Object.entries(subjects))("%s with real PHP either completes or leaves no trace", (_, subject) => {
  test(
    "when its process is killed during any step or undo",
    async () => {
      const cases = deathCases(operationDefinitions(world.services)[subject.kind]).duringWork.filter(isHere);
      expect(cases.length).toBeGreaterThan(2);
      const options = { start: startProcess, longestWorkMilliseconds, mostTogether: 1 };
      expect(await runDeaths(subject, world, cases, options)).toEqual([]);
    },
    timeoutMilliseconds,
  );
});
