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
import { runDeathsInTurn, type Spare } from "./testing/crashHarness.ts";
import { startProcess } from "./testing/runners.ts";

/** Kills come at any moment of a step: creating a site takes some 50 ms, its first page some 150 ms. */
const longestWorkMilliseconds = 100;

let world: World;
const spare: Spare = { runner: null };
beforeAll(async () => {
  world = await makePlaygroundWorld();
});
afterAll(async () => {
  await spare.runner?.end();
  await world[Symbol.asyncDispose]();
});

/** Steps that change only rows and the edge: they are the same with the fake runtime and are killed there. */
const coveredByFake = /^(?:run|undo) (?:estimate|hold|trial|freeze|publish|probe|withdraw):/;
const isHere = ({ fault: { killAt = "" } }: Case) => !coveredByFake.test(killAt);
const timeout = 300_000;
const subjects = {
  "creating a site": creatingSite,
  "deleting a site": deletingSite,
  "cloning an environment": cloningEnvironment,
  "pushing everything": pushing("all", "all"),
};

describe.each(Object.entries(subjects))("%s with real PHP", { timeout }, (_, subject) => {
  async function dieInEach(ends: Case["ends"]): Promise<void> {
    const cases = deathCases(operationDefinitions(world.services)[subject.kind]).duringWork.filter(isHere);
    const inTurn = cases.filter((each) => each.ends === ends);
    expect(inTurn.length).toBeGreaterThan(0);
    // Steps are undone in reverse order.
    if (ends === "failed") inTurn.reverse();
    const options = { start: startProcess, spare, longestWorkMilliseconds };
    expect(await runDeathsInTurn(subject, world, inTurn, options)).toEqual([]);
  }

  test("completes if its process is killed during each step", () => dieInEach("succeeded"));
  test("leaves no trace if it fails and its process is killed during each undo", () => dieInEach("failed"));
});
