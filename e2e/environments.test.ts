/** A change is tried beside the live site, brought over it, and can't be where it would break it. */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { cloneInstalled, type Installation, prepared, start } from "./installation.ts";
import { type CreatedSite, createSite, followOperation, type SiteBody } from "./sites.ts";

let clone: Awaited<ReturnType<typeof cloneInstalled>>;
let installation: Installation;
let site: CreatedSite;
let staging: { readonly id: string; readonly address: string };

beforeAll(async () => {
  clone = await cloneInstalled();
  installation = await start(clone.folder, { ...prepared, SITEWRIGHT_SPARE_WORKERS: "2" });
  site = await createSite(installation, { display_name: "Harbour", site_title: "Harbour" });
}, 300_000);

afterAll(async () => {
  await installation?.stop();
  await clone?.remove();
});

async function carryOut(method: string, path: string, body?: object) {
  const answer = await installation.api(method, path, body);
  expect(answer.status, answer.text).toBe(202);
  return followOperation(installation, answer.json<{ operation_id: string }>().operation_id);
}

async function push(source: string, target: string) {
  return carryOut("PUT", `/sites/${site.id}/environments`, { source_env_id: source, target_env_id: target });
}

/** A plugin that is always on, in the environment's own files. */
async function writePlugin(environmentId: string, code: string): Promise<void> {
  const plugins = join(installation.data, "environments", environmentId, "current/public/wp-content/mu-plugins");
  await writeFile(join(plugins, "e2e.php"), `<?php\n${code}\n`, { mode: 0o644 });
}

test("an environment is cloned, and is a site of its own beside the live one", async () => {
  const body = { display_name: "Staging", is_premium: false, source_env_id: site.environmentId };
  const ended = await carryOut("POST", `/sites/${site.id}/environments/clone`, body);
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

test("a change on it is seen by visitors of the live site after a push, and not before", async () => {
  await writePlugin(staging.id, `add_action( 'wp_footer', function () { echo 'tried beside'; } );`);
  expect((await installation.visit(`${site.address}/`)).text).not.toContain("tried beside");
  expect((await push(staging.id, site.environmentId)).status).toBe(200);
  const page = await installation.visit(`${site.address}/`);
  expect(page.status).toBe(200);
  expect(page.text).toContain("tried beside");
  expect(page.text).toContain(site.address);
  expect(page.text).not.toContain("staging-harbour");
});

// WordPress does not know of plugins that are written beside it: with an unknown field, no page is one that was kept.
test("a push that would break the live site is not made, and says why in PHP's own words", async () => {
  await writePlugin(staging.id, "this is no PHP");
  const ended = await push(staging.id, site.environmentId);
  expect(ended.status).toBe(500);
  expect(ended.data?.message).toContain("PHP Parse error");
  expect((await installation.visit(`${site.address}/?anew`)).text).toContain("tried beside");
});

test("a change of PHP's version that would break the site is not made either, another one is", async () => {
  const modify = (version: string) => {
    const body = { environment_id: site.environmentId, php_version: version };
    return carryOut("PUT", "/sites/tools/modify-php-version", body);
  };
  await writePlugin(
    site.environmentId,
    `if ( PHP_VERSION_ID >= 80400 ) { throw new Error( 'not on this one' ); }
add_action( 'wp_footer', function () { echo 'runs on ' . PHP_VERSION; } );`,
  );
  const refused = await modify("8.4");
  expect(refused.status).toBe(500);
  expect(refused.data?.message).toContain("not on this one");
  expect((await installation.visit(`${site.address}/?anew`)).text).toContain("runs on 8.3");
  expect((await modify("8.2")).status).toBe(200);
  expect((await installation.visit(`${site.address}/?anew`)).text).toContain("runs on 8.2");
});

test("a reset gives the live site a fresh WordPress", async () => {
  const ended = await carryOut("POST", `/sites/${site.id}/reset-site`, { admin_password: "another horse" });
  expect(ended.status).toBe(200);
  const page = await installation.visit(`${site.address}/?anew`);
  expect(page.status).toBe(200);
  expect(page.text).toContain("Harbour");
  expect(page.text).not.toContain("runs on");
});

test("a deleted environment is gone, and its name is free at once", async () => {
  expect((await carryOut("DELETE", `/sites/environments/${staging.id}`)).status).toBe(200);
  expect((await installation.visit(`${staging.address}/`)).status).toBe(404);
  const body = { display_name: "Staging", is_premium: false };
  const ended = await carryOut("POST", `/sites/${site.id}/environments/plain`, body);
  expect(ended.status).toBe(200);
  expect((await installation.visit(`${staging.address}/`)).status).toBe(200);
});
