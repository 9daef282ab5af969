/** The operations through real kills with the real runtime: what the fake can't show is what PHP leaves half done. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { cloningEnvironment, pushing } from "../../testing/environments.ts";
import { makePlaygroundWorld } from "../../testing/playground.ts";
import { creatingSite, deletingSite } from "../../testing/sites.ts";
import type { World } from "../../testing/world.ts";
import { operationDefinitions } from "../definitions.ts";
import { type Case, deathCases } from "./testing/cases.ts";
import { runDeaths } from "./testing/crashHarness.ts";
import { startProcess } from "./testing/runners.ts";

/** Kills come at any moment of a step: making a site takes some 50 ms, its first page some 150. */
const longestWorkMilliseconds = 100;

let world: World;
beforeAll(async () => {
  world = await makePlaygroundWorld();
});
afterAll(async () => {
  await world[Symbol.asyncDispose]();
});

/** What only rows and the edge hear of is the same with the fake, and was killed there. */
const elsewhere = /^(?:run|undo) (?:estimate|hold|trial|freeze|publish|probe|withdraw):/;
const isHere = ({ fault: { killAt = "" } }: Case) => !elsewhere.test(killAt);
const patienceMilliseconds = 300_000;
const subjects = {
  "creating a site": creatingSite,
  "deleting a site": deletingSite,
  "cloning an environment": cloningEnvironment,
  "pushing everything": pushing("all", "all"),
};

describe.each(Object.entries(subjects))("%s with real PHP is finished or never happened", (_, subject) => {
  test(
    "when its process is killed during any of its work",
    async () => {
      const cases = deathCases(operationDefinitions(world.services)[subject.kind]).duringWork.filter(isHere);
      expect(cases.length).toBeGreaterThan(2);
      const options = { start: startProcess, longestWorkMilliseconds, mostTogether: 1 };
      expect(await runDeaths(subject, world, cases, options)).toEqual([]);
    },
    patienceMilliseconds,
  );
});
