/** Changes of the primary domain with real WordPress, as a single site and as a network. */
import { randomUUID } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { MultisiteKind } from "@sitewright/runtimes/runtime.ts";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { systemActor } from "../../store/company/activity.ts";
import { domainsOfEnvironment } from "../../store/domains/domains.ts";
import { addOwnDomain } from "../../store/testing/rows.ts";
import { visit } from "../../testing/edge.ts";
import { makePlaygroundWorld } from "../../testing/playground.ts";
import { liveSite } from "../../testing/sites.ts";
import { withEngine } from "../../testing/withEngine.ts";
import type { World } from "../../testing/world.ts";
import type { ChangePrimaryDomainInput } from "./changePrimaryDomain.ts";

const timeout = 240_000;

let world: World;
beforeAll(async () => {
  world = await makePlaygroundWorld();
}, timeout);
afterAll(async () => {
  await world[Symbol.asyncDispose]();
});

type Site = Awaited<ReturnType<typeof liveSite>>;

/** Writes a script to the web root, which releases share or copy. */
async function addScript(site: Site, file: string, code: string): Promise<void> {
  const layout = await world.services.runtime.layout(site.environment);
  await writeFile(join(layout?.documentRoot ?? "", file), `<?php require __DIR__ . '/wp-load.php'; ${code}`);
}

/** Prints the addresses that WordPress knows. */
const about = `
  $posts = get_posts(['name' => 'linked', 'post_type' => 'post', 'post_status' => 'publish']);
  echo json_encode([
    'home' => home_url(), 'site' => site_url(), 'option' => get_option('home'),
    'content' => $posts[0]->post_content ?? null, 'kept' => get_option('kept')['deep'] ?? null,
    'network' => is_multisite() ? get_network()->domain : null,
    'blogs' => is_multisite() ? array_map(fn($b) => $b->domain . $b->path, get_sites()) : null,
    'second' => is_multisite() ? get_blog_option(2, 'home') : null,
  ]);`;

async function fetchJson(address: string, file: string) {
  const { status, body } = await visit(world.facts.edgePort, `${address}/`, `/${file}`);
  if (status !== 200) throw new Error(`${address}/${file} answered ${status}: ${body.slice(0, 300)}`);
  return JSON.parse(body);
}

/** Creates a site with its address in a post and in an option, and in a network a second site. */
async function siteWithTexts(multisite: MultisiteKind | null): Promise<Site> {
  const site = await liveSite(world, multisite);
  const { host } = new URL(site.address);
  const second =
    multisite === "subdomain"
      ? `['domain' => 'two.${host}', 'path' => '/', 'title' => 'Two', 'user_id' => 1, 'network_id' => 1]`
      : `['domain' => '${host}', 'path' => '/two/', 'title' => 'Two', 'user_id' => 1, 'network_id' => 1]`;
  const addSecond = `require_once ABSPATH . 'wp-admin/includes/ms.php'; wp_insert_site(${second});`;
  await addScript(
    site,
    "setUp.php",
    `wp_insert_post(['post_title' => 'Linked', 'post_name' => 'linked', 'post_status' => 'publish',
       'post_content' => '<a href="${site.address}/about">about</a>']);
     update_option('kept', ['deep' => ['${site.address}/kept']]);
     ${multisite === null ? "" : addSecond} echo json_encode(true);`,
  );
  expect(await fetchJson(site.address, "setUp.php")).toBe(true);
  await addScript(site, "about.php", about);
  return site;
}

async function change(site: Site, more: { readonly isEverywhere: boolean; readonly name?: string }) {
  const { database } = world.own;
  const name = more.name ?? `${randomUUID().slice(0, 8)}.example`;
  const id = await addOwnDomain(database, site.environment.id, { name });
  await world.services.publisher.publish();
  const [former] = await domainsOfEnvironment(database, site.environment.id);
  if (!former) throw new Error("The site has no domain");
  const address = `http://${name}:${world.facts.edgePort}`;
  const input: ChangePrimaryDomainInput = {
    token: randomUUID(),
    target: site.environment,
    address,
    addressBefore: site.address,
    isEverywhere: more.isEverywhere,
    domain: { id, name, isHttps: false },
    former: { id: former.id, name: former.name, isHttps: false },
  };
  const operation = await withEngine(world, (harness) =>
    harness.submit({
      kind: "changePrimaryDomain",
      companyId: site.companyId,
      siteId: site.siteId,
      environmentId: site.environment.id,
      locks: [site.environment.id],
      input,
      whenBusy: "fail",
      actor: systemActor,
      activityParameters: {},
    }),
  );
  expect(operation).toMatchObject({ state: "succeeded", public_error: null, result: { address } });
  return address;
}

/** Each change starts from the address of the one before, which the texts have. */
describe("a single site", () => {
  let site: Site;
  beforeAll(async () => {
    site = await siteWithTexts(null);
  }, timeout);

  test("has its new address also in all texts if requested", { timeout }, async () => {
    const address = await change(site, { isEverywhere: true });
    expect(await fetchJson(address, "about.php")).toMatchObject({
      home: address,
      content: expect.stringContaining(`${address}/about`),
      kept: [`${address}/kept`],
    });
    site = { ...site, address };
  });

  test("has its new address, and texts stay unchanged", { timeout }, async () => {
    const address = await change(site, { isEverywhere: false });
    expect(await fetchJson(address, "about.php")).toMatchObject({
      home: address,
      site: address,
      option: address,
      content: expect.stringContaining(`${site.address}/about`),
      kept: [`${site.address}/kept`],
    });
    const front = await visit(world.facts.edgePort, address);
    expect(front.status).toBe(200);
    expect(front.body).toContain(address);
    // The former domain still works, with links to the new address.
    const former = await visit(world.facts.edgePort, site.address);
    expect(former.status).toBe(200);
    expect(former.body).toContain(address);
    const [primary] = await domainsOfEnvironment(world.own.database, site.environment.id);
    expect(primary?.name).toBe(new URL(address).hostname);
    site = { ...site, address };
  });

  test("has its new address even if its owner has set a different one before", { timeout }, async () => {
    await addScript(
      site,
      "move.php",
      "update_option('home', 'http://elsewhere.example'); update_option('siteurl', 'http://elsewhere.example'); echo json_encode(1);",
    );
    await fetchJson(site.address, "move.php");
    const address = await change(site, { isEverywhere: false });
    expect(await fetchJson(address, "about.php")).toMatchObject({ home: address, site: address });
  });
});

describe("a network of subdirectories", () => {
  let site: Site;
  beforeAll(async () => {
    site = await siteWithTexts("subdirectory");
  }, timeout);

  test.each([true, false])(
    "has its new address, and so have all of its sites, everywhere: %s",
    {
      timeout,
    },
    async (isEverywhere) => {
      const address = await change(site, { isEverywhere });
      const { host } = new URL(address);
      expect(await fetchJson(address, "about.php")).toMatchObject({
        home: address,
        network: host,
        blogs: [`${host}/`, `${host}/two/`],
        second: expect.stringContaining(`${address}/two`),
        content: expect.stringContaining(`${isEverywhere ? address : site.address}/about`),
      });
      expect((await visit(world.facts.edgePort, address, "/two/")).status).toBe(200);
      site = { ...site, address };
    },
  );
});

test("a network of subdomains has its new address, and so have all of its sites", { timeout }, async () => {
  const site = await siteWithTexts("subdomain");
  const address = await change(site, { isEverywhere: false });
  const { host, hostname, port } = new URL(address);
  expect(await fetchJson(address, "about.php")).toMatchObject({
    home: address,
    network: host,
    blogs: [`${host}/`, `two.${host}/`],
  });
  expect((await visit(world.facts.edgePort, `http://two.${hostname}:${port}`)).status).toBe(200);
});
