/** Read-only requests whose visitors or scripts are slow. */
import { once } from "node:events";
import { buffer } from "node:stream/consumers";
import { afterAll, beforeAll, expect, test } from "vitest";
import { exampleRequest } from "../conformance/conformance.ts";
import type { PhpRequest, PhpResponse } from "../serving.ts";
import { addScript, outcomeOf, type Site, visitorOf } from "../testing/visitor.ts";
import { type NativeWorld, openNative } from "./testing/world.ts";

let world: NativeWorld;
let site: Site;

beforeAll(async () => {
  world = await openNative({ isOnDisk: true });
  site = await world.site();
  await world.limit(site, { threads: 4 });
  const long = "for ( $i = 0; $i < 100; $i++ ) echo str_repeat( 'x', 1 << 20 );";
  await addScript(site, "long.php", long);
  await addScript(site, "late.php", `${long} touch( 'late.txt' );`);
  await addScript(site, "endless.php", "for ( ; ; ) echo str_repeat( 'x', 1 << 20 );");
  await addScript(site, "hello.php", "echo 'hello';");
});
afterAll(() => world?.close());

const readOnly = (script: string, changes: Partial<PhpRequest> = {}) =>
  world.serving.handle(
    site.environment.id,
    exampleRequest(site.wordpress.address, { url: script, script, isReadOnly: true, ...changes }),
  );
const hello = () => visitorOf(world.serving, site).get("/hello.php", { isReadOnly: true });

async function read(answer: PhpResponse): Promise<PhpResponse> {
  await buffer(answer.body);
  return answer;
}

test("a visitor who does not read a long response keeps no other one waiting, and still gets all of it", async () => {
  const unread = await Promise.all([readOnly("/long.php"), readOnly("/long.php")]);
  expect((await hello()).text).toBe("hello");
  for (const { finished } of unread) await finished;
  const [first, second] = unread;
  second?.body.destroy();
  if (first === undefined) throw new Error("There is no response.");
  expect((await buffer(first.body)).length).toBe(100 << 20);
});

test("visitors who read nothing can't fill the disk, and leave room for others when they leave", async () => {
  const unread = [await readOnly("/long.php"), await readOnly("/long.php")];
  expect(await outcomeOf(readOnly("/long.php"))).toBe("wouldWrite");
  for (const { body } of unread) body.destroy();
  await expect.poll(() => outcomeOf(readOnly("/long.php").then(read))).toBe(200);
});

test("a visitor who leaves in the middle of a long response keeps no other one waiting", async () => {
  const { body } = await readOnly("/long.php");
  await once(body, "data");
  body.destroy();
  expect((await hello()).text).toBe("hello");
});

test("a response of any length that is followed by a change is never begun", async () => {
  await expect(readOnly("/late.php")).rejects.toMatchObject({ reason: "wouldWrite" });
});

test("a response without end is no response", async () => {
  const outcome = await outcomeOf(readOnly("/endless.php", { deadlineSeconds: 5 }));
  expect(["wouldWrite", "deadline"]).toContain(outcome);
  expect((await hello()).text).toBe("hello");
});
