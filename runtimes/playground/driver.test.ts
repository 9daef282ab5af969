import { mkdir, readdir, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { driverPlace } from "../sqlite/driver.ts";
import { runPhp, type Site, visitorOf } from "../testing/visitor.ts";
import { openPlayground, type Playground } from "./testing/world.ts";

let world: Playground;
let site: Site;
beforeAll(async () => {
  world = await openPlayground();
  site = await world.site();
}, 120_000);
afterAll(() => world.close());
beforeEach(() => {
  for (const { pid } of world.serving.status().workers) process.kill(pid, "SIGKILL");
});

/** What only the layer can answer, through WordPress. */
const asked = `require '/site/wp-load.php'; echo get_class($wpdb), ' ', $wpdb->get_var("SELECT QUARTER('2024-05-01') * 10 + 7 DIV 2"),
  ' ', count($wpdb->get_results('SHOW TRIGGERS'));`;
const answered = "WP_MySQL_Layer\\WPDB 23 0";

const ownFolder = () => path.join(site.documentRoot, driverPlace);

test("a new site has no files of the driver, and its database answers like MySQL", async () => {
  expect(await readdir(ownFolder())).toEqual([]);
  expect(await runPhp(world.serving, site, asked)).toBe(answered);
  expect((await visitorOf(world.serving, site).get("/")).status).toBe(200);
});

test("WP-CLI uses the same driver", async () => {
  const code = asked.replace("require '/site/wp-load.php'; ", "global $wpdb; ");
  const command = { phpVersion: site.phpVersion, argv: ["eval", code], seconds: 120 };
  const { signal } = new AbortController();
  const outcome = await world.runtime.runWpCli(site.environment, command, async () => undefined, signal);
  expect(outcome.stdout.text).toBe(answered);
});

test("a site with a driver of its own, from an earlier version or a backup, gets the present one", async () => {
  const old = path.join(ownFolder(), "wp-includes/sqlite");
  await mkdir(old, { recursive: true });
  await writeFile(path.join(old, "db.php"), "<?php die('the old driver');");
  expect(await runPhp(world.serving, site, asked)).toBe(answered);
  await rm(ownFolder(), { recursive: true });
  expect(await runPhp(world.serving, site, asked)).toBe(answered);
});

test("a site can't change the driver", async () => {
  const attempts = ["file_put_contents($f . '/load.php', '')", "unlink($f . '/load.php')", "mkdir($f . '/new')"];
  const code = `$f = '/site/${driverPlace}'; var_dump(${attempts.map((attempt) => `@${attempt}`).join(", ")});`;
  expect(await runPhp(world.serving, site, code)).toBe("bool(false)\n".repeat(3));
});
