/** WordPress's requests to WordPress.org go to the installation's package source, and its updates come from there. */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import { tmpdir } from "node:os";
import path from "node:path";
import { makeMirror } from "@sitewright/server/packages/mirror.ts";
import { pluginZip } from "@sitewright/server/packages/testing/zips.ts";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { runPhp, type Site } from "./testing/visitor.ts";
import { openPlayground, type Playground } from "./testing/world.ts";

let folder: string;
let mirror: Server;
let world: Playground;
let site: Site;

async function portOf(server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("The server has no port");
  return address.port;
}

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "source-"));
  await writeFile(path.join(folder, "akismet.zip"), await pluginZip("akismet", "99.0"));
  mirror = makeMirror(folder);
  world = await openPlayground({ packageSource: `http://127.0.0.1:${await portOf(mirror)}` });
  site = await world.site();
}, 120_000);
afterAll(async () => {
  await world.close();
  mirror.closeAllConnections();
  mirror.close();
  await rm(folder, { recursive: true });
});

const wordpress = async (code: string, of = site, on = world): Promise<unknown> =>
  JSON.parse(
    await runPhp(on.serving, of, `require '/site/wp-load.php'; echo json_encode((function () { ${code} })());`),
  );

describe("with a mirror on this machine", () => {
  test("WordPress finds only the newer versions that the mirror has", async () => {
    const found = await wordpress(
      "wp_update_plugins(); return array_map(fn ($one) => $one->new_version, get_site_transient('update_plugins')->response);",
    );
    expect(found).toEqual({ "akismet/akismet.php": "99.0" });
  });

  test("WordPress downloads and installs an update from the mirror", async () => {
    const version = await wordpress(
      `foreach (['file', 'misc', 'plugin', 'class-wp-upgrader'] as $name) require_once ABSPATH . "wp-admin/includes/$name.php";
      $upgrader = new Plugin_Upgrader(new WP_Ajax_Upgrader_Skin());
      $done = $upgrader->upgrade('akismet/akismet.php');
      return [$done, get_plugins()['akismet/akismet.php']['Version']];`,
    );
    expect(version).toEqual([true, "99.0"]);
  });

  test("other ports of this machine stay unreachable", async () => {
    const other = createServer((_, response) => response.end("secret"));
    const port = await portOf(other);
    const isError = await wordpress(`return is_wp_error(wp_remote_get('http://127.0.0.1:${port}/'));`);
    other.close();
    expect(isError).toBe(true);
  });
});

test("without a package source WordPress gets an error at once", async () => {
  const alone = await openPlayground({ packageSource: null });
  try {
    const own = await alone.site();
    const ask = "return wp_remote_get('https://api.wordpress.org/core/version-check/1.7/')->get_error_message();";
    expect(await wordpress(ask, own, alone)).toBe("This installation has no package source.");
  } finally {
    await alone.close();
  }
});
