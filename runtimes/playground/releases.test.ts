/** The parts of a release that a worker gets: its own and shared ones. */
import { readdir, rm } from "node:fs/promises";
import path from "node:path";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from "vitest";
import { exampleRequest, exampleSpec } from "../conformance/conformance.ts";
import { addPlain, addRelease, servedAs } from "../testing/handMade.ts";
import { outcomeOf, runPhp, type Site, visitorOf } from "../testing/visitor.ts";
import { openPlayground, type Playground } from "./testing/world.ts";

let world: Playground;
beforeAll(async () => {
  world = await openPlayground();
}, 120_000);
afterAll(() => world?.close());

describe("a release that shares a part with another one", () => {
  let site: Site;
  beforeAll(async () => {
    site = await world.site();
  });

  /** Writes `name` into both parts of a release that shares `part` with the first one, and opens its front page. */
  async function use(release: number, part: "public" | "database", name: string): Promise<void> {
    const served = await addRelease(world, site, release, [part]);
    await world.serving.setEnvironments([served]);
    const moved = { ...site, documentRoot: served.documentRoot };
    expect(await runPhp(world.serving, moved, `echo touch('/site/${name}'), touch('/database/${name}');`)).toBe("11");
    expect((await visitorOf(world.serving, moved).get("/")).text).toContain("</html>");
  }

  /** Returns the parts of a release that have a file with this name. */
  async function partsWith(release: number, name: string): Promise<readonly string[]> {
    const folder = path.join(world.environments, site.environment.id, "releases", String(release));
    const parts = ["database", "public"].map(async (part) =>
      (await readdir(path.join(folder, part))).includes(name) ? [part] : [],
    );
    return (await Promise.all(parts)).flat();
  }

  test("uses the other release's files and its own database", async () => {
    await use(2, "public", "second");
    expect(await partsWith(1, "second")).toEqual(["public"]);
    expect(await partsWith(2, "second")).toEqual(["database", "public"]);
  });

  test("uses its own files and the other release's database", async () => {
    await use(3, "database", "third");
    expect(await partsWith(1, "third")).toEqual(["database"]);
    expect(await partsWith(3, "third")).toEqual(["database", "public"]);
  });

  test("is unavailable while a part is missing, and takes no spare worker", async () => {
    const own = await openPlayground({ preparedWorkers: 1 });
    onTestFinished(() => own.close());
    const incomplete = await own.site();
    const { environment, wordpress } = incomplete;
    const second = await addRelease(own, incomplete, 2, ["public"]);
    await rm(path.join(own.environments, environment.id, "releases/2/database"), { recursive: true });
    await own.serving.setEnvironments([second]);
    const request = exampleRequest(wordpress.address);
    await vi.waitUntil(() => own.serving.status().preparedWorkers === 1, { timeout: 90_000 });
    expect(await outcomeOf(own.serving.handle(environment.id, request))).toBe("unavailable");
    expect(own.serving.status().preparedWorkers).toBe(1);
    await own.serving.setEnvironments([await servedAs(own, incomplete)]);
    expect(await outcomeOf(own.serving.handle(environment.id, request))).toBe(200);
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
