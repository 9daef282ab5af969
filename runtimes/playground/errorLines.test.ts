/** What PHP writes to its log, as whoever serves it hears of it. */
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { exampleRequest } from "../conformance.ts";
import { leaveScript, outcomeOf, runPhp, type Site } from "./testing/visitor.ts";
import { openPlayground, type Playground } from "./testing/world.ts";

let world: Playground;
let site: Site;
let heard: { readonly environmentId: string; readonly line: string }[] = [];

beforeAll(async () => {
  world = await openPlayground({
    requestDeadlineSeconds: 8,
    onErrorLine: (environmentId, line) => heard.push({ environmentId, line }),
  });
  site = await world.site();
}, 120_000);
afterAll(() => world.close());
beforeEach(() => {
  heard = [];
});

const lines = () => heard.map(({ line }) => line);

function ask(script: string) {
  return world.serving.handle(site.environment.id, exampleRequest(site.wordpress.address, { url: script, script }));
}

test("each line is heard, of warnings and of fatal errors, with the environment that it is of", async () => {
  await leaveScript(site, "complain.php", 'echo $nothing; error_log("one\\ntwo grüße"); nowhere();');
  const answer = await ask("/complain.php");
  await text(answer.body);
  await answer.finished;
  expect(lines()).toEqual(
    expect.arrayContaining([
      expect.stringMatching(/PHP Warning: {2}Undefined variable \$nothing in \/site\/complain\.php on line \d/),
      expect.stringMatching(/one$/),
      expect.stringMatching(/two grüße$/),
      expect.stringMatching(/PHP Fatal error: {2}Uncaught Error: Call to undefined function nowhere\(\)/),
    ]),
  );
  expect(new Set(heard.map(({ environmentId }) => environmentId))).toEqual(new Set([site.environment.id]));
}, 60_000);

test("a page that goes well is not heard of", async () => {
  expect(await runPhp(world.serving, site, "echo 'fine';")).toBe("fine");
  expect(heard).toEqual([]);
}, 60_000);

test("of a script that complains very often the beginning is heard, and how many lines more there were", async () => {
  await leaveScript(site, "often.php", "for ($i = 0; $i < 20000; $i++) error_log(str_repeat('x', 100)); echo 'done';");
  const answer = await ask("/often.php");
  expect(await text(answer.body)).toBe("done");
  await answer.finished;
  const bytes = lines().join("\n").length;
  expect(bytes).toBeLessThan(300_000);
  expect(bytes).toBeGreaterThan(200_000);
  const [, more] = /^… and (\d+) more lines$/.exec(lines().at(-1) ?? "") ?? [];
  expect(lines().length - 1 + Number(more)).toBeGreaterThanOrEqual(20_000);
}, 60_000);

test("one that never stops complaining is ended like any other, what came before is heard, and the next works", async () => {
  await leaveScript(site, "endless.php", "while (true) error_log(str_repeat('x', 1 << 16));");
  expect(["deadline", "crashed"]).toContain(await outcomeOf(ask("/endless.php")));
  expect(lines().join("\n").length).toBeLessThan(300_000);
  expect(await runPhp(world.serving, site, "echo 'next';")).toBe("next");
}, 60_000);

test("what is tried out is not heard of: whoever tries it gets it with the answer", async () => {
  await leaveScript(site, "tried.php", "error_log('tried');");
  const layout = await world.runtime.layout(site.environment);
  if (layout === null) throw new Error("The environment has no layout.");
  const environment = { ...site.environment, ...layout, phpVersion: site.phpVersion };
  const request = exampleRequest(site.wordpress.address, { url: "/tried.php", script: "/tried.php" });
  const trial = await world.serving.runTrial(environment, request);
  await text(trial.body);
  expect(await trial.errors).toContain("tried");
  expect(heard).toEqual([]);
}, 60_000);
