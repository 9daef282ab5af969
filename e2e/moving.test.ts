/** End-to-end test of moving the installation to another machine with a backup file and the archives. */
import { execFile } from "node:child_process";
import { cp, mkdir, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createFolder, type Installation, startHere, type TestFolder } from "./installation.ts";
import { type CreatedSite, createSite, describeSite, type SiteBody, succeed } from "./sites.ts";
import { until } from "./until.ts";

const run = promisify(execFile);

let home: TestFolder;
let old: Installation;
let installation: Installation;
let site: CreatedSite;

beforeAll(async () => {
  home = await createFolder();
  old = await startHere(home.folder);
  installation = old;
  site = await createSite(old, { display_name: "Harbour", site_title: "Harbour" });
}, 300_000);

afterAll(async () => {
  await installation?.stop();
  await home?.remove();
});

/** Runs the operator command for a data folder. Returns its output. */
async function operator(data: string, parameters: readonly string[]) {
  const env = { ...process.env, SITEWRIGHT_DATA: data, SITEWRIGHT_BACKUP_PASSPHRASE: "correct horse battery" };
  const { stdout } = await run("npm", ["run", "--silent", "operator", "--", ...parameters], { env });
  return stdout;
}

async function makePost(title: string): Promise<void> {
  const root = join(old.data, "environments", site.environmentId, "current/public");
  const post = `array( 'post_title' => '${title}', 'post_status' => 'publish' )`;
  await writeFile(join(root, "post.php"), `<?php require 'wp-load.php'; echo wp_insert_post( ${post} );`, {
    mode: 0o644,
  });
  expect((await old.visit(`${site.address}/post.php`)).text).toMatch(/^\d+$/);
}

const backupFile = () => join(home.folder, "installation.backup");
const newData = () => join(home.folder, "other-machine");

test("a running installation can be backed up to one file", async () => {
  await makePost("Soup of the day");
  await succeed(installation, "POST", `/sites/environments/${site.environmentId}/manual-backups`, {});
  const output = await operator(old.data, ["backup", backupFile()]);
  expect(output).toContain(`The installation is backed up in ${backupFile()}`);
  expect(output).toMatch(/Harbour \/ \w+ +(less than a minute|\d+ minutes?) ago/);
  expect((await stat(backupFile())).mode & 0o777).toBe(0o600);
  await old.stop();
});

test("a restore into an empty data folder brings back the site and its post, at the new address", async () => {
  const data = newData();
  await mkdir(data, { mode: 0o700 });
  await cp(join(old.data, "archives"), join(data, "archives"), { recursive: true });
  const output = await operator(data, ["restore", backupFile()]);
  expect(output).toMatch(/Harbour \/ \w+ +(less than a minute|\d+ minutes?) ago/);
  installation = await startHere(home.folder, { SITEWRIGHT_DATA: data });
  expect(installation.firstRun.api_key).toBe(old.firstRun.api_key);
  site = await describeSite(installation, site.id);
  await until(
    async () => {
      const answer = await installation.api("GET", `/sites/${site.id}`);
      expect(answer.json<SiteBody>().site.environments[0]?.is_blocked).toBe(false);
    },
    { deadlineSeconds: 120, intervalMilliseconds: 100 },
  );
  const page = await installation.visit(`${site.address}/`);
  expect(page.status).toBe(200);
  expect(page.text).toContain("Soup of the day");
  expect(page.text).not.toContain(`:${new URL(old.firstRun.sites_url).port}/`);
});

test("the activity log is intact after the move", async () => {
  expect(await operator(newData(), ["audit", "verify"])).toMatch(/^OK: \d+ seals in 2 chains verified\.\n/);
});

test("the restored installation can create a site, make backups and be moved again", async () => {
  const another = await createSite(installation, { display_name: "Lighthouse", site_title: "Lighthouse" });
  expect((await installation.visit(`${another.address}/`)).text).toContain("Lighthouse");
  await succeed(installation, "POST", `/sites/environments/${site.environmentId}/manual-backups`, {});
  const output = await operator(newData(), ["backup", backupFile(), "--force", "--with-backups"]);
  expect(output).toMatch(/Lighthouse \/ \w+ +less than a minute ago/);
});
