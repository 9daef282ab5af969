/**
 * Operations with the real runtime, killed during their work, because only real PHP shows what it leaves unfinished.
 */
import { describe } from "vitest";
import { cloningEnvironment, pushing } from "../../testing/environments.ts";
import { makePlaygroundWorld } from "../../testing/playground.ts";
import { creatingSite, deletingSite } from "../../testing/sites.ts";
import { describeDeaths } from "./testing/describeDeaths.ts";

/** Steps that change only rows and the edge: they are the same with the fake runtime and are killed there. */
const coveredByFake = /^(?:run|undo) (?:estimate|hold|trial|freeze|publish|probe|withdraw):/;

describe("with real PHP", () => {
  const subjects = {
    "creating a site": creatingSite,
    "deleting a site": deletingSite,
    "cloning an environment": cloningEnvironment,
    "pushing everything": pushing("all", "all"),
  };
  describeDeaths(makePlaygroundWorld, subjects, (point) => coveredByFake.test(point));
});
