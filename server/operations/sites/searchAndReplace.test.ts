import { afterAll, beforeAll, expect, test } from "vitest";
import { previewingReplacement, replacingTexts } from "../../testing/replacements.ts";
import { withEngine } from "../../testing/withEngine.ts";
import { makeWorld, type World } from "../../testing/world.ts";
import type { Subject } from "../faults/testing/crashHarness.ts";

let world: World;
beforeAll(async () => {
  world = await makeWorld();
});
afterAll(() => world[Symbol.asyncDispose]());

async function run(subject: Subject, change?: object) {
  return withEngine(world, async (harness) => {
    const prepared = await subject.prepare(world);
    const request = change === undefined ? prepared : { ...prepared, secret: JSON.stringify(change) };
    return { request: prepared, row: await harness.submit(request) };
  });
}

const counts = {
  rows: 1,
  occurrences: 1,
  places: [{ table: "wp_posts", column: "post_title", rows: 1, occurrences: 1 }],
  skipped: { occurrences: 0, listed: [] },
  addresses: [],
};

test("a preview counts the replacements and changes nothing", async () => {
  const { row, request } = await run(previewingReplacement);
  expect(row).toMatchObject({ state: "succeeded", result: { performed: false, ...counts } });
  expect(await previewingReplacement.finished(world, request)).toEqual([]);
});

test("the replacement has the result of the preview, and makes a backup", async () => {
  const { row, request } = await run(replacingTexts);
  expect(row).toMatchObject({ state: "succeeded", result: { performed: true, ...counts } });
  expect(await replacingTexts.finished(world, request)).toEqual([]);
  const { name, type } = await world.own.database
    .selectFrom("backups")
    .selectAll()
    .where("environment_id", "=", request.environmentId)
    .executeTakeFirstOrThrow();
  expect([name, type]).toEqual(["Before a search and replace", "system-generated"]);
});

test("a replacement that would change the site's address is rejected, and the error says where", async () => {
  const { row, request } = await run(replacingTexts, { search: "localhost", replace: "example.com" });
  expect(row.state).toBe("failed");
  expect(row.public_error).toContain("wp_options: siteurl would become http://");
  expect(await replacingTexts.undone(world, request)).toEqual([]);
});

test("a preview lists changes of the site's address", async () => {
  const { row } = await run(previewingReplacement, { search: "localhost", replace: "example.com" });
  expect(row.result).toMatchObject({ addresses: [{ place: "wp_options: siteurl" }] });
});
