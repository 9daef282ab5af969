/** Operations on native PHP while the process that runs them is killed, or PHP itself, in each of their steps. */
import { setTimeout as delay } from "node:timers/promises";
import { commandLineOf, descendantsOf, killIfAlive } from "@sitewright/runtimes/native/processTree.ts";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Json } from "../../store/database.ts";
import { silentLog, testBackoffs } from "../../testing/engine.ts";
import { changingRuntime, cloningEnvironment, modifyingPhpVersion, pushing } from "../../testing/environments.ts";
import { makeNativeWorld } from "../../testing/native.ts";
import { creatingSite } from "../../testing/sites.ts";
import { makeWorldWithTwoRuntimes, nativePhpVersion } from "../../testing/twoRuntimes.ts";
import { forgetSites, type World } from "../../testing/world.ts";
import { operationDefinitions } from "../definitions.ts";
import { startEngine } from "../engine/engine.ts";
import type { Step } from "../engine/operation.ts";
import { leftovers, openHarness, type Subject } from "./testing/crashHarness.ts";
import { describeDeaths } from "./testing/describeDeaths.ts";

const subjects = {
  "creating a site": creatingSite,
  "cloning an environment": cloningEnvironment,
  "pushing everything": pushing("all", "all"),
  "changing the PHP version": modifyingPhpVersion,
};

describe("if its process is killed with native PHP,", () => {
  describeDeaths(makeNativeWorld, subjects);
});

type Which = "master" | "child";

/** The php-fpms of this process's edges. The parent of a child is a php-fpm too. */
function fpms(which: Which): readonly number[] {
  const all = descendantsOf(process.pid).filter((pid) => commandLineOf(pid).startsWith("php-fpm"));
  const children = new Set(all.flatMap(descendantsOf));
  return all.filter((pid) => children.has(pid) === (which === "child"));
}

interface Kills {
  readonly which: Which;
  /** Those of earlier tests. */
  readonly spared: ReadonlySet<number>;
  readonly killed: Set<number>;
}

/** Kills those that there are when the work begins, and the first one that it starts. Adds them to `killed`. */
async function killDuring(work: Promise<void>, { which, spared, killed }: Kills): Promise<void> {
  let isOver = false;
  const end = work.finally(() => {
    isOver = true;
  });
  end.catch(() => undefined);
  for (let rounds = 0; !isOver && rounds < 2; ) {
    const alive = fpms(which).filter((pid) => !killed.has(pid) && !spared.has(pid));
    for (const pid of alive) {
      // Its children end with it.
      for (const each of [pid, ...descendantsOf(pid)]) killed.add(each);
      killIfAlive(pid);
    }
    if (alive.length > 0) rounds += 1;
    await delay(2);
  }
  await end;
}

/** Runs the operation, and kills PHP in each of its steps. Returns which processes, and what is wrong afterwards. */
async function runWithKills(subject: Subject, world: World, which: Which) {
  const kills = { which, spared: new Set(fpms(which)), killed: new Set<number>() };
  const withKills = (step: Step<Json>): Step<Json> => ({
    ...step,
    run: (context) => killDuring(step.run(context), kills),
  });
  await using harness = await openHarness(world);
  const engine = await startEngine({
    url: world.facts.databaseUrl,
    database: world.own.database,
    notifications: harness.notifications,
    sealer: harness.sealer,
    definitions: Object.values(operationDefinitions(world.services)).map((each) => ({
      ...each,
      steps: each.steps.map(withKills),
    })),
    log: silentLog,
    backoffs: testBackoffs,
  });
  const request = await subject.prepare(world);
  const row = await harness.submit(request);
  await engine.stop();
  // A page that one of them is still asked for fails; the next one must not.
  const alive = () => [...fpms("master"), ...fpms("child")].filter((pid) => kills.killed.has(pid));
  await expect.poll(alive).toEqual([]);
  const check = row.state === "succeeded" ? subject.finished : subject.undone;
  const wrong = [...(await leftovers(world, row)), ...(await check(world, request))];
  await forgetSites(world);
  return { killed: kills.killed, wrong };
}

describe("if PHP is killed in each step,", () => {
  let native: World;
  let both: World;
  beforeAll(async () => {
    native = await makeNativeWorld();
    both = await makeWorldWithTwoRuntimes();
  });
  afterAll(async () => {
    await native?.[Symbol.asyncDispose]();
    await both?.[Symbol.asyncDispose]();
  });

  describe.each<Which>(["master", "child"])("the %s of php-fpm,", (which) => {
    const moving = changingRuntime("native", nativePhpVersion);
    test.each([
      ...Object.entries(subjects).map(([name, subject]) => ({ name, subject, world: () => native })),
      { name: "moving to native PHP", subject: moving, world: () => both },
    ])("$name completes or leaves no trace", { timeout: 300_000 }, async ({ subject, world }) => {
      const { killed, wrong } = await runWithKills(subject, world(), which);
      expect(wrong).toEqual([]);
      expect(killed.size).toBeGreaterThan(0);
    });
  });
});
