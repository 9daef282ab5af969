/** Test restores of real WordPress, of good and bad backups. */
import { randomUUID } from "node:crypto";
import { mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { request } from "node:http";
import { dirname, join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { json } from "node:stream/consumers";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { makeBackupLists } from "../../store/backups/backupList.ts";
import { findNewestBackup } from "../../store/backups/backups.ts";
import { findRowCounts } from "../../store/backups/testRestores.ts";
import { visit } from "../../testing/edge.ts";
import { makePlaygroundWorld } from "../../testing/playground.ts";
import { liveSite } from "../../testing/sites.ts";
import { leftOfTestRestore, testRestoreOf } from "../../testing/testRestores.ts";
import { withEngine } from "../../testing/withEngine.ts";
import type { World } from "../../testing/world.ts";
import { backUp } from "../steps/backup.ts";

let world: World;
let site: Site;
beforeAll(async () => {
  world = await makePlaygroundWorld();
  site = await liveSite(world);
});
afterAll(async () => {
  await world[Symbol.asyncDispose]();
});

type Site = Awaited<ReturnType<typeof liveSite>>;

async function rootOf({ environment }: Site): Promise<string> {
  const layout = await world.services.runtime.layout(environment);
  if (layout === null) throw new Error("The environment is gone");
  return layout.documentRoot;
}

async function write(site: Site, name: string, content: string): Promise<void> {
  const file = join(await rootOf(site), name);
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, content);
}

async function backUpNow({ environment, address }: Site): Promise<number> {
  const options = {
    environment,
    address,
    operationId: randomUUID(),
    type: "manual",
    name: "Then",
    note: null,
  } as const;
  await backUp(world.services, options, new AbortController().signal);
  const backup = await findNewestBackup(world.services.database, environment.id);
  if (backup === null) throw new Error("There is no backup");
  return backup.id;
}

/** Runs a test restore, checks that nothing is left behind, and returns the result. */
async function runTestRestore(site: Site, backupId: number) {
  const submitted = await testRestoreOf(world, site, backupId);
  const row = await withEngine(world, (harness) => harness.submit(submitted));
  expect(await leftOfTestRestore(world, submitted.input)).toEqual([]);
  const found = await makeBackupLists(world.own.pool).list(site.environment.id);
  const { last_proven_restore, proof_error } = found?.backups.find(({ id }) => id === backupId) ?? {};
  return { state: row.state, message: row.public_error, proven: last_proven_restore, error: proof_error };
}

const failed = "The test restore failed. ";

interface EdgeStatus {
  readonly generation: number;
  readonly environments: number;
  readonly workers: readonly { readonly pid: number; readonly environmentId: string; readonly requests: number }[];
}

/** The state of the edge, with the PHP processes of this site. */
async function servedFor({ environment }: Site) {
  const answer = await new Promise<EdgeStatus>((resolve, reject) => {
    const sent = request({ socketPath: world.facts.edgeSocket, path: "/status", agent: false }, (response) => {
      json(response).then((status) => resolve(Object(status)), reject);
    });
    sent.on("error", reject).end();
  });
  const workers = answer.workers.filter(({ environmentId }) => environmentId === environment.id);
  return { generation: answer.generation, environments: answer.environments, workers: workers.map(({ pid }) => pid) };
}

test("a damaged pack is detected, and the error names the affected file", async () => {
  const backupId = await backUpNow(site);
  const packs = join(world.facts.dataFolder, "archives", "packs", site.companyId);
  for (const name of await readdir(packs)) {
    const content = await readFile(join(packs, name));
    content.writeUInt8(content.readUInt8(content.length >> 1) ^ 1, content.length >> 1);
    await writeFile(join(packs, name), content);
  }
  const { message, error, ...rest } = await runTestRestore(site, backupId);
  expect(rest).toEqual({ state: "failed", proven: null });
  expect(error).toMatch(/^This backup can't be restored: what it needs for .+ is missing or damaged\.$/);
  expect(message).toBe(`${failed}${error}`);
});

test("the next backup stores the lost data again, and is proven without any effect on its site", async () => {
  const backupId = await backUpNow(site);
  expect(await findRowCounts(world.services.database, backupId)).toMatchObject({ wp_users: 1, wp_links: 0 });
  expect((await visit(world.facts.edgePort, site.address)).status).toBe(200);
  const before = await servedFor(site);
  expect(before.workers).toHaveLength(1);
  expect(await runTestRestore(site, backupId)).toEqual({
    state: "succeeded",
    message: null,
    proven: expect.any(Number),
    error: null,
  });
  expect(await servedFor(site)).toEqual(before);
  expect(await visit(world.facts.edgePort, site.address)).toMatchObject({ status: 200 });
});

test("missing rows are detected, and the error names the table", async () => {
  const backupId = await backUpNow(site);
  const counted = await findRowCounts(world.services.database, backupId);
  const row_counts = JSON.stringify({ ...counted, wp_users: 3 });
  await world.own.database.updateTable("backups").set({ row_counts }).where("id", "=", backupId).execute();
  const error = "The table wp_users had 3 rows when it was backed up, and had 1 row when it was restored.";
  expect(await runTestRestore(site, backupId)).toEqual({
    state: "failed",
    message: `${failed}${error}`,
    proven: null,
    error,
  });
});

test("a plugin with a parse error is detected, with PHP's message", async () => {
  await write(site, "wp-content/mu-plugins/shop.php", "<?php\n\nfunction (;\n");
  const { state, error, message } = await runTestRestore(site, await backUpNow(site));
  expect(state).toBe("failed");
  expect(error).toMatch(
    /^The restored site failed its check: its front page has the status 500: PHP Parse error: .+shop\.php on line 3\.$/,
  );
  expect(message).toBe(`${failed}${error}`);
  await rm(join(await rootOf(site), "wp-content/mu-plugins/shop.php"));
});

describe("the restored copy", () => {
  test("can't reach its site or the network and can't send mail, and its missing login page is detected", async () => {
    await write(site, "charge.php", "<?php touch( __DIR__ . '/charged' );");
    await write(
      site,
      "wp-content/mu-plugins/queue.php",
      `<?php add_action( 'init', function () {
        if ( wp_parse_url( $_SERVER['REQUEST_URI'], PHP_URL_PATH ) !== '/' ) return;
        wp_remote_post( home_url( '/charge.php' ), array( 'blocking' => false ) );
        wp_remote_get( home_url( '/charge.php' ) );
        spawn_cron();
        if ( wp_mail( 'ada@example.com', 'Again', 'Again' ) ) { touch( ABSPATH . 'mailed' ); http_response_code( 500 ); exit; }
      } );`,
    );
    await write(site, "wp-login.php", "<?php http_response_code(410); echo 'gone';");
    // Its front page has no error, so it has sent no mail.
    expect((await runTestRestore(site, await backUpNow(site))).error).toBe(
      "The restored site failed its check: its login page has the status 410.",
    );
    expect(await readdir(await rootOf(site))).not.toContain("charged");
    // The site itself can do all that.
    expect((await visit(world.facts.edgePort, site.address, "/?uncached")).status).toBe(200);
    expect(await readdir(await rootOf(site))).toContain("charged");
  });
});

test("an environment without WordPress is proven by its front page and the rows of its databases", async () => {
  const { runtime, publisher } = world.services;
  await runtime.destroy(site.environment);
  await runtime.provision({ environment: site.environment, phpVersion: "8.3", wordpress: null });
  await publisher.publish();
  const database = join(await rootOf(site), "../database/shop.sqlite");
  const shop = new DatabaseSync(database);
  shop.exec("CREATE TABLE orders (id); INSERT INTO orders VALUES (1), (2)");
  shop.close();
  const backupId = await backUpNow(site);
  expect(await findRowCounts(world.services.database, backupId)).toEqual({ "shop.sqlite: orders": 2 });
  expect(await runTestRestore(site, backupId)).toMatchObject({ state: "succeeded", error: null });
  await write(site, "index.php", "<?php nothing();");
  expect((await runTestRestore(site, await backUpNow(site))).error).toMatch(
    /its front page has the status 500: PHP Fatal error: .+nothing\(\)/,
  );
});
