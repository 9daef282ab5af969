/** The parts of a release that a worker gets: its own and shared ones. */
import { rm } from "node:fs/promises";
import path from "node:path";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { exampleRequest, exampleSpec } from "../conformance.ts";
import { addPlain, addRelease, servedAs } from "./testing/handMade.ts";
import { outcomeOf, runPhp, type Site, visitorOf } from "./testing/visitor.ts";
import { openPlayground, type Playground } from "./testing/world.ts";

let world: Playground;
beforeAll(async () => {
  world = await openPlayground({ spareWorkers: 1 });
}, 120_000);
afterAll(() => world?.close());

const mark = (word: string) =>
  `file_put_contents('/site/mark.txt', '${word}'); file_put_contents('/database/mark.txt', '${word}'); echo 'done';`;
const marks = "echo file_get_contents('/site/mark.txt'), ' ', file_get_contents('/database/mark.txt');";

describe("a release that shares a part with another one", () => {
  let site: Site;
  beforeEach(async () => {
    site = await world.site();
    await runPhp(world.serving, site, mark("first"));
  });

  test("uses the other release's files and its own database", async () => {
    const second = await addRelease(world, site, 2, ["public"]);
    await world.serving.setEnvironments([second]);
    expect(await runPhp(world.serving, site, mark("second"))).toBe("done");
    expect((await visitorOf(world.serving, site).get("/")).text).toContain("</html>");
    await world.serving.setEnvironments([await servedAs(world, site)]);
    expect(await runPhp(world.serving, site, marks)).toBe("second first");
  });

  test("uses its own files and the other release's database", async () => {
    const second = await addRelease(world, site, 2, ["database"]);
    await world.serving.setEnvironments([second]);
    const moved = { ...site, documentRoot: second.documentRoot };
    expect(await runPhp(world.serving, moved, mark("second"))).toBe("done");
    expect((await visitorOf(world.serving, moved).get("/")).text).toContain("</html>");
    await world.serving.setEnvironments([await servedAs(world, site)]);
    expect(await runPhp(world.serving, site, marks)).toBe("first second");
  });

  test("is unavailable while a part is missing, and takes no spare worker", async () => {
    const second = await addRelease(world, site, 2, ["public"]);
    await rm(path.join(world.environments, site.environment.id, "releases/2/database"), { recursive: true });
    await world.serving.setEnvironments([second]);
    const request = exampleRequest(site.wordpress.address);
    await vi.waitUntil(() => world.serving.status().spares === 1, { timeout: 90_000 });
    expect(await outcomeOf(world.serving.handle(site.environment.id, request))).toBe("unavailable");
    expect(world.serving.status().spares).toBe(1);
    await world.serving.setEnvironments([await servedAs(world, site)]);
    expect(await outcomeOf(world.serving.handle(site.environment.id, request))).toBe(200);
  });
});

describe("an environment without WordPress", () => {
  test("runs its own script with its own database and no files of WordPress", async () => {
    const code = `<?php
      $db = new PDO('sqlite:/database/own.sqlite');
      $db->exec('CREATE TABLE IF NOT EXISTS visits (n INTEGER)');
      $db->exec('INSERT INTO visits VALUES (1)');
      session_start();
      echo $db->query('SELECT count(*) FROM visits')->fetchColumn(), json_encode(scandir('/site'));`;
    const { environment } = exampleSpec();
    await world.serving.setEnvironments([await addPlain(world, environment, { "index.php": code })]);
    const request = exampleRequest("http://plain.localhost:8081");
    const visit = async () => text((await world.serving.handle(environment.id, request)).body);
    expect(await visit()).toBe('1[".","..","index.php"]');
    expect(await visit()).toBe('2[".","..","index.php"]');
  });
});
