/**
 * End-to-end tests of environments: a change is tried in staging and pushed, and a push that would break the live site
 * is refused.
 */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createFolder, type Installation, startHere, type TestFolder } from "./installation.ts";
import { type CreatedSite, createSite, runOperation, type SiteBody } from "./sites.ts";

let home: TestFolder;
let installation: Installation;
let site: CreatedSite;
let staging: { readonly id: string; readonly address: string };

beforeAll(async () => {
  home = await createFolder();
  installation = await startHere(home.folder);
  site = await createSite(installation, { display_name: "Harbour", site_title: "Harbour" });
}, 300_000);

afterAll(async () => {
  await installation?.stop();
  await home?.remove();
});

const run = (method: string, path: string, body?: object) => runOperation(installation, method, path, body);

async function push(source: string, target: string) {
  return run("PUT", `/sites/${site.id}/environments`, { source_env_id: source, target_env_id: target });
}

/** Writes a must-use plugin into the environment's files. */
async function writePlugin(environmentId: string, code: string): Promise<void> {
  const plugins = join(installation.data, "environments", environmentId, "current/public/wp-content/mu-plugins");
  await writeFile(join(plugins, "e2e.php"), `<?php\n${code}\n`, { mode: 0o644 });
}

test("a cloned environment shows the site at its own address", async () => {
  const body = { display_name: "Staging", is_premium: false, source_env_id: site.environmentId };
  const ended = await run("POST", `/sites/${site.id}/environments/clone`, body);
  expect(ended.status).toBe(200);
  const { environments } = (await installation.api("GET", `/sites/${site.id}`)).json<SiteBody>().site;
  const found = environments.find(({ id }) => id === ended.data?.idEnv);
  const port = new URL(site.address).port;
  staging = { id: found?.id ?? "", address: `http://${found?.primaryDomain.name}:${port}` };
  expect(staging.address).toBe(`http://staging-harbour.localhost:${port}`);
  const page = await installation.visit(`${staging.address}/`);
  expect(page.text).toContain("Harbour");
  expect(page.text).toContain(staging.address);
  expect(page.text).not.toContain(`//harbour.localhost`);
});

test("visitors of the live site see a change only after the push", async () => {
  await writePlugin(staging.id, `add_action( 'wp_footer', function () { echo 'tried in staging'; } );`);
  expect((await installation.visit(`${site.address}/`)).text).not.toContain("tried in staging");
  expect((await push(staging.id, site.environmentId)).status).toBe(200);
  const page = await installation.visit(`${site.address}/`);
  expect(page.status).toBe(200);
  expect(page.text).toContain("tried in staging");
  expect(page.text).toContain(site.address);
  expect(page.text).not.toContain("staging-harbour");
});

// Plugins written to disk don't clear the page cache. The unknown parameter `fresh` avoids cached pages.
test("a push that would break the live site fails with PHP's error message and changes nothing", async () => {
  await writePlugin(staging.id, "this is no PHP");
  const ended = await push(staging.id, site.environmentId);
  expect(ended.status).toBe(500);
  expect(ended.data?.message).toContain("PHP Parse error");
  expect((await installation.visit(`${site.address}/?fresh`)).text).toContain("tried in staging");
});

test("a change of the PHP version that would break the site fails, and another version works", async () => {
  const modify = (version: string) => {
    const body = { environment_id: site.environmentId, php_version: version };
    return run("PUT", "/sites/tools/modify-php-version", body);
  };
  await writePlugin(
    site.environmentId,
    `if ( PHP_VERSION_ID >= 80400 ) { throw new Error( 'not on this one' ); }
add_action( 'wp_footer', function () { echo 'runs on ' . PHP_VERSION; } );`,
  );
  const refused = await modify("8.4");
  expect(refused.status).toBe(500);
  expect(refused.data?.message).toContain("not on this one");
  expect((await installation.visit(`${site.address}/?fresh`)).text).toContain("runs on 8.3");
  expect((await modify("8.2")).status).toBe(200);
  expect((await installation.visit(`${site.address}/?fresh`)).text).toContain("runs on 8.2");
});

test("a reset gives the live site a fresh WordPress", async () => {
  const ended = await run("POST", `/sites/${site.id}/reset-site`, { admin_password: "another horse" });
  expect(ended.status).toBe(200);
  const page = await installation.visit(`${site.address}/?fresh`);
  expect(page.status).toBe(200);
  expect(page.text).toContain("Harbour");
  expect(page.text).not.toContain("runs on");
});

test("the name of a deleted environment is free at once", async () => {
  expect((await run("DELETE", `/sites/environments/${staging.id}`)).status).toBe(200);
  expect((await installation.visit(`${staging.address}/`)).status).toBe(404);
  const body = { display_name: "Staging", is_premium: false };
  const ended = await run("POST", `/sites/${site.id}/environments/plain`, body);
  expect(ended.status).toBe(200);
  expect((await installation.visit(`${staging.address}/`)).status).toBe(200);
});
