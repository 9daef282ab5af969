/** Search and replace with real WordPress: the preview is right, and a replacement that breaks the site is rejected. */
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { visit } from "../../testing/edge.ts";
import { makePlaygroundWorld } from "../../testing/playground.ts";
import { previewingReplacement, replacementOf, replacingTexts } from "../../testing/replacements.ts";
import { withEngine } from "../../testing/withEngine.ts";
import type { World } from "../../testing/world.ts";
import type { Subject } from "../faults/testing/crashHarness.ts";
import type { SearchAndReplaceInput } from "./searchAndReplace.ts";

type Input = SearchAndReplaceInput;

const timeout = 240_000;

let world: World;
beforeAll(async () => {
  world = await makePlaygroundWorld();
}, timeout);
afterAll(async () => {
  await world[Symbol.asyncDispose]();
});

test("a preview, a replacement, and rejected replacements", { timeout }, async () => {
  await withEngine(world, async (harness) => {
    const request = await replacingTexts.prepare(world);
    const input = replacementOf(request);
    const front = async () => (await visit(world.facts.edgePort, input.address)).body;
    const submit = (subject: Subject, change: object) =>
      harness.submit({ ...request, kind: subject.kind, secret: JSON.stringify(change) });
    const change = { search: "Hello world!", replace: 'Hello "planet" & moon!' };

    const preview = await submit(previewingReplacement, change);
    expect(preview.result).toMatchObject({ performed: false, rows: 1, occurrences: 1 });
    expect(await front()).toContain("Hello world!");

    const done = await submit(replacingTexts, change);
    expect(done).toMatchObject({ state: "succeeded", public_error: null });
    expect(done.result).toEqual({ ...Object(preview.result), performed: true });
    expect(await front()).toContain("planet");

    const move = { search: new URL(input.address).host, replace: "elsewhere.example" };
    const refused = await harness.submit({
      ...request,
      input: { ...input, token: "move" },
      secret: JSON.stringify(move),
    });
    expect(refused.state).toBe("failed");
    expect(refused.public_error).toContain("would no longer be at its address");
    expect(await front()).toContain("planet");

    await addPlugin(
      input.target,
      "<?php add_action('init', fn () => get_post(1)->post_title === 'Broken' && nothing_there());",
    );
    const broken = JSON.stringify({ search: change.replace, replace: "Broken" });
    const tried = await harness.submit({ ...request, input: { ...input, token: "broken" }, secret: broken });
    expect(tried.state).toBe("failed");
    expect(tried.public_error).toMatch(/^The site with the replaced texts failed its check: .*nothing_there/);
    expect(await front()).toContain("planet");
  });
});

/** Adds a must-use plugin. */
async function addPlugin(environment: Input["target"], code: string): Promise<void> {
  const layout = await world.services.runtime.layout(environment);
  const folder = join(layout?.documentRoot ?? "", "wp-content", "mu-plugins");
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, "breaks.php"), code);
}
