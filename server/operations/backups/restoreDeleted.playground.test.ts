/** Deletes and restores a real WordPress through the API: its content, its users and their logins are back. */
import { readFile, writeFile } from "node:fs/promises";
import { request } from "node:http";
import { dirname, join } from "node:path";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Control, startControl } from "../../control.ts";
import { loadConfig } from "../../settings/config.ts";
import { silentLog } from "../../testing/engine.ts";
import { makePlaygroundWorld } from "../../testing/playground.ts";
import { makeRuntime } from "../../testing/services.ts";
import type { World } from "../../testing/world.ts";

let world: World;
let control: Control;
let company: { readonly company_id: string; readonly api_key: string };
beforeAll(async () => {
  world = await makePlaygroundWorld();
  const runtimes = { playground: await makeRuntime(world.runtime) };
  const { dataFolder, databaseUrl, edgePort, edgeSocket } = world.facts;
  const config = loadConfig({
    SITEWRIGHT_DATA: dataFolder,
    SITEWRIGHT_RUN: dirname(edgeSocket),
    SITEWRIGHT_CONTROL_PORT: "0",
    SITEWRIGHT_EDGE_PORT: String(edgePort),
    DATABASE_URL: databaseUrl,
  });
  control = await startControl({ config, runtimes, log: silentLog });
  company = JSON.parse(await readFile(join(dataFolder, "first-run.json"), "utf8"));
});
afterAll(async () => {
  await control.stop();
  await world[Symbol.asyncDispose]();
});

/** The fields of API responses that this test uses. */
interface Body {
  readonly status: number;
  readonly operation_id: string;
  readonly data: { readonly idSite: string; readonly result: { readonly address: string } | null };
  readonly site: { readonly id: string; readonly environments: readonly Environment[] };
  readonly company: { readonly deleted_sites: readonly { readonly id: string; readonly environments: unknown }[] };
}

interface Environment {
  readonly id: string;
  readonly primaryDomain: { readonly name: string };
  readonly container_info: { readonly php_engine_version: string };
  readonly is_opt_out_from_automatic_php_update: boolean;
}

async function call(method: string, path: string, body?: object): Promise<Body> {
  const headers = { authorization: `Bearer ${company.api_key}`, ...(body && { "content-type": "application/json" }) };
  const options = { method, headers, ...(body && { body: JSON.stringify(body) }) };
  return JSON.parse(await (await fetch(`${control.url}/v2${path}`, options)).text());
}

/** Returns the operation when it has ended. */
async function carryOut(method: string, path: string, body?: object): Promise<Body> {
  const { operation_id: id } = await call(method, path, body);
  for (;;) {
    const ended = await call("GET", `/operations/${id}?wait=30`);
    if (ended.status !== 202) return ended;
  }
}

interface RequestOptions {
  readonly cookie?: string;
  readonly form?: Readonly<Record<string, string>>;
}

function fetchPage(address: string, path: string, { cookie, form }: RequestOptions = {}) {
  const { promise, resolve, reject } = Promise.withResolvers<{ status: number; body: string; cookies: string[] }>();
  const headers = {
    host: new URL(address).host,
    ...(cookie !== undefined && { cookie }),
    ...(form && { "content-type": "application/x-www-form-urlencoded" }),
  };
  const method = form === undefined ? "GET" : "POST";
  const options = { host: "127.0.0.1", port: world.facts.edgePort, path, method, headers, agent: false };
  const sent = request(options, (response) => {
    const cookies = response.headers["set-cookie"] ?? [];
    text(response).then((body) => resolve({ status: response.statusCode ?? 0, body, cookies }), reject);
  });
  sent.on("error", reject);
  sent.end(form && new URLSearchParams(form).toString());
  return promise;
}

/** Logs in, and returns the cookies. */
async function logIn(address: string, password: string): Promise<string> {
  const form = { log: "ada", pwd: password, testcookie: "1", "wp-submit": "Log In" };
  const { cookies } = await fetchPage(address, "/wp-login.php", {
    form,
    cookie: "wordpress_test_cookie=WP%20Cookie%20check",
  });
  return cookies.map((cookie) => cookie.split(";")[0]).join("; ");
}

/** Publishes a post, uploads a file, and prints where they are. */
const authorScript = `<?php
require __DIR__ . '/wp-load.php';
$post = wp_insert_post( array( 'post_title' => 'Harvest', 'post_status' => 'publish', 'post_content' => 'see ' . home_url( '/barn' ) ) );
$file = wp_upload_bits( 'harvest.txt', null, 'ripe' );
echo json_encode( array( 'post' => $post, 'file' => wp_parse_url( $file['url'], PHP_URL_PATH ) ) );
`;

const password = "correct horse battery staple";

/**
 * Creates a site and a staging environment, both with the author's content. `name` is also the label of its address.
 */
async function makeSite(name: string) {
  const options = { company: company.company_id, display_name: name, region: "europe-west3", install_mode: "new" };
  const admin = { admin_email: "ada@example.com", admin_password: password, admin_user: "ada" };
  const created = await carryOut("POST", "/sites", { ...options, ...admin, site_title: name, wp_language: "en_US" });
  const { idSite: id, result } = created.data;
  const live = (await call("GET", `/sites/${id}`)).site.environments[0];
  const address = result?.address ?? "";
  const layout = await world.services.runtime.layout({ id: live?.id ?? "", number: 1 });
  await writeFile(join(layout?.documentRoot ?? "", "author.php"), authorScript);
  const made: { post: number; file: string } = JSON.parse((await fetchPage(address, "/author.php")).body);
  const clone = { display_name: "Staging", is_premium: true, source_env_id: live?.id };
  await carryOut("POST", `/sites/${id}/environments/clone`, clone);
  const php = { environment_id: live?.id, php_version: "8.4", is_opt_out_from_automatic_php_update: true };
  expect((await carryOut("PUT", "/sites/tools/modify-php-version", php)).status).toBe(200);
  return { id, address, staging: address.replace(name, `staging-${name}`), ...made };
}

/** The properties of the site's environments that a restore must preserve. */
async function identities(id: string) {
  const { environments } = (await call("GET", `/sites/${id}/environments`)).site;
  return environments.map((each) => [
    each.id,
    each.primaryDomain,
    each.container_info,
    each.is_opt_out_from_automatic_php_update,
  ]);
}

let garden: Awaited<ReturnType<typeof makeSite>>;

test("restores ids, posts, files, PHP versions, passwords and logins", async () => {
  garden = await makeSite("garden");
  const before = await identities(garden.id);
  const cookie = await logIn(garden.address, password);
  expect((await fetchPage(garden.address, "/wp-admin/profile.php", { cookie })).status).toBe(200);

  expect((await carryOut("DELETE", `/sites/${garden.id}`)).status).toBe(200);
  for (const address of [garden.address, garden.staging]) expect((await fetchPage(address, "/")).status).toBe(404);
  const list = `/company/${company.company_id}/deleted-sites`;
  expect((await call("GET", list)).company.deleted_sites).toMatchObject([
    { id: garden.id, environments: [{ name: "live" }, { name: "staging" }] },
  ]);

  expect(await carryOut("POST", `${list}/${garden.id}/restore`)).toMatchObject({ status: 200 });
  expect(await identities(garden.id)).toEqual(before);
  for (const address of [garden.address, garden.staging]) {
    const post = await fetchPage(address, `/?p=${garden.post}`);
    // WordPress may redirect to the post's permalink.
    const page = post.status === 301 ? await fetchPage(address, "/?s=Harvest") : post;
    expect(page.body).toContain("Harvest");
    expect(await fetchPage(address, garden.file)).toMatchObject({ status: 200, body: "ripe" });
  }
  expect((await fetchPage(garden.address, "/wp-admin/profile.php", { cookie })).status).toBe(200);
  expect(await logIn(garden.address, password)).toContain("wordpress_logged_in_");
  expect(await logIn(garden.address, "another password")).not.toContain("wordpress_logged_in_");
});

test("changes the site's addresses everywhere if it is restored under another name", async () => {
  await carryOut("DELETE", `/sites/${garden.id}`);
  const path = `/company/${company.company_id}/deleted-sites/${garden.id}/restore`;
  const ended = await carryOut("POST", path, { display_name: "Orchard" });
  const { address = "" } = ended.data.result ?? {};
  expect(address).toBe(`http://orchard.localhost:${world.facts.edgePort}`);
  const page = await fetchPage(address, "/?s=Harvest");
  expect(page.status).toBe(200);
  expect(page.body).toContain(`${address}/barn`.replace("http://", ""));
  expect(page.body).not.toContain("garden.localhost");
  expect(await logIn(address, password)).toContain("wordpress_logged_in_");
});
