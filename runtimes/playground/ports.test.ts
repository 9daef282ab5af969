/** A site has one address and is also reached by http and https at unusual ports. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { runPhp, type Site, visitorOf } from "../testing/visitor.ts";
import { openPlayground, type Playground } from "./testing/world.ts";

let world: Playground;
let site: Site;
let name: string;

beforeAll(async () => {
  world = await openPlayground();
  site = await world.site();
  name = new URL(site.wordpress.address).hostname;
  await runPhp(
    world.serving,
    site,
    "require '/site/wp-load.php'; $wp_rewrite->set_permalink_structure('/%postname%/'); $wp_rewrite->flush_rules();",
  );
}, 120_000);
afterAll(() => world.close());

const moveTo = (address: string) =>
  runPhp(
    world.serving,
    site,
    `require '/site/wp-load.php'; update_option('home', '${address}'); update_option('siteurl', '${address}');`,
  );
const visit = (address: string) => {
  const { protocol, host, pathname, search } = new URL(address);
  return visitorOf(world.serving, site).get(`${pathname}${search}`, {
    headers: { host },
    https: protocol === "https:",
  });
};
const linksIn = (text: string) => [...new Set(text.match(/https?:\/\/[a-z0-9.-]+\.localhost(?::\d+)?/g) ?? [])].sort();

describe("a site whose address is http", () => {
  test("visited by https links to the address that the visitor used", async () => {
    const page = await visit(`https://${name}:8443/`);
    expect([page.status, page.headers.location]).toEqual([200, undefined]);
    expect(linksIn(page.text)).toEqual([`https://${name}:8443`]);
  });

  test("redirects to a page's permalink without changing the port", async () => {
    const page = await visit(`https://${name}:8443/hello-world`);
    expect([page.status, page.headers.location]).toEqual([301, `https://${name}:8443/hello-world/`]);
    const usual = await visit(`https://${name}/hello-world`);
    expect(usual.headers.location).toBe(`https://${name}/hello-world/`);
  });

  test("visited by http links to its own address", async () => {
    const page = await visit(`http://${name}:8081/`);
    expect([page.status, linksIn(page.text)]).toEqual([200, [`http://${name}:8081`]]);
  });
});

describe("a site whose address is https", () => {
  beforeAll(() => moveTo("https://own.localhost:8443"));

  test.each([
    ["own.localhost:8081", "http://own.localhost:8081"],
    ["other.localhost:8081", "http://own.localhost:8081"],
    ["own.localhost", "http://own.localhost"],
  ])(
    "visited by http at %s serves the page with styles from there and links to its https address",
    async (host, styles) => {
      const page = await visit(`http://${host}/`);
      expect([page.status, page.headers.location]).toEqual([200, undefined]);
      expect(linksIn(page.text)).toEqual([styles, "https://own.localhost:8443"]);
    },
  );

  test("redirects a visitor by http to a page's permalink by http", async () => {
    const page = await visit("http://own.localhost:8081/hello-world");
    expect([page.status, page.headers.location]).toEqual([301, "http://own.localhost:8081/hello-world/"]);
  });

  test("visited by https links to its own address", async () => {
    const page = await visit("https://own.localhost:8443/");
    expect([page.status, linksIn(page.text)]).toEqual([200, ["https://own.localhost:8443"]]);
  });
});
