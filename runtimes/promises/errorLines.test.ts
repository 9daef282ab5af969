/** PHP's log lines, as the serving side reports them. */
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { exampleRequest } from "../conformance/conformance.ts";
import type { PhpRequest } from "../serving.ts";
import { servedAs } from "../testing/handMade.ts";
import { addScript, outcomeOf, runPhp, type Site } from "../testing/visitor.ts";
import { openWorld, type SiteWorld } from "../testing/world.ts";

let world: SiteWorld;
let site: Site;
let received: { readonly environmentId: string; readonly line: string }[] = [];

beforeAll(async () => {
  world = await openWorld({
    onErrorLine: (environmentId, line) => received.push({ environmentId, line }),
  });
  site = await world.site();
}, 120_000);
afterAll(() => world.close());
beforeEach(() => {
  received = [];
});

const lines = () => received.map(({ line }) => line);

function ask(script: string, changes: Partial<PhpRequest> = {}) {
  const request = exampleRequest(site.wordpress.address, { url: script, script, ...changes });
  return world.serving.handle(site.environment.id, request);
}

test("each line of warnings and fatal errors is reported with its environment", async () => {
  await addScript(site, "errors.php", 'echo $nothing; error_log("one\\ntwo grüße"); nowhere();');
  const answer = await ask("/errors.php");
  await text(answer.body);
  await answer.finished;
  expect(lines()).toEqual(
    expect.arrayContaining([
      expect.stringMatching(/PHP Warning: {2}Undefined variable \$nothing in \/site\/errors\.php on line \d/),
      expect.stringMatching(/one$/),
      expect.stringMatching(/two grüße$/),
      expect.stringMatching(/PHP Fatal error: {2}Uncaught Error: Call to undefined function nowhere\(\)/),
    ]),
  );
  expect(new Set(received.map(({ environmentId }) => environmentId))).toEqual(new Set([site.environment.id]));
}, 60_000);

test("a page without errors reports no lines", async () => {
  expect(await runPhp(world.serving, site, "echo 'fine';")).toBe("fine");
  expect(received).toEqual([]);
}, 60_000);

test("a script with very many lines is reported up to a limit, with the number of further lines", async () => {
  await addScript(site, "often.php", "for ($i = 0; $i < 20000; $i++) error_log(str_repeat('x', 100)); echo 'done';");
  const answer = await ask("/often.php");
  expect(await text(answer.body)).toBe("done");
  await answer.finished;
  const bytes = lines().join("\n").length;
  expect(bytes).toBeLessThan(300_000);
  expect(bytes).toBeGreaterThan(200_000);
  const [, more] = /^… and (\d+) more lines$/.exec(lines().at(-1) ?? "") ?? [];
  expect(lines().length - 1 + Number(more)).toBeGreaterThanOrEqual(20_000);
}, 60_000);

test("a script that logs endlessly is ended, its first lines are reported, and the next request works", async () => {
  await addScript(site, "endless.php", "while (true) error_log(str_repeat('x', 1 << 16));");
  expect(["deadline", "crashed"]).toContain(await outcomeOf(ask("/endless.php", { deadlineSeconds: 1 })));
  expect(lines().join("\n").length).toBeLessThan(300_000);
  expect(await runPhp(world.serving, site, "echo 'next';")).toBe("next");
}, 60_000);

test("a trial reports no lines, but returns them with its response", async () => {
  await addScript(site, "tried.php", "error_log('tried');");
  const request = exampleRequest(site.wordpress.address, { url: "/tried.php", script: "/tried.php" });
  const trial = await world.serving.runTrial(await servedAs(world, site), request);
  await text(trial.body);
  expect(await trial.errors).toContain("tried");
  expect(received).toEqual([]);
}, 60_000);
