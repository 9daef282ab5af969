/** WordPress's requests to WordPress.org go to the installation's package source, and its updates come from there. */
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import { tmpdir } from "node:os";
import path from "node:path";
import { makeMirror } from "@sitewright/server/packages/mirror.ts";
import { languagePackZip, pluginZip, themeZip } from "@sitewright/server/packages/testing/zips.ts";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { runPhp, type Site } from "../testing/visitor.ts";
import { createPlaygroundRuntime } from "./runtime.ts";
import { openPlayground, type Playground, sharedAssets } from "./testing/world.ts";

let folder: string;
let mirror: Server;
let packageSource: string;
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
  const revised = "2036-01-01 00:00:00+0000";
  const zips = {
    "akismet.zip": await pluginZip("akismet", "99.0"),
    "akismet-98.zip": await pluginZip("akismet", "98.0"),
    "shop-1.zip": await pluginZip("shop", "1.0", "", {}, { Author: "Ada", Description: "Sells tea." }),
    "shop-2.zip": await pluginZip("shop", "2.0", "", {}, { Author: "Ada", Description: "Sells tea." }),
    "leaf-1.zip": await themeZip("leaf", "1.0"),
    "leaf-2.zip": await themeZip("leaf", "2.0"),
    "translation/core/7.0/de_DE.zip": await languagePackZip("", "de_DE", revised, "['Posts' => 'Posten']"),
    "translation/core/7.0/eo.zip": await languagePackZip("", "eo", revised, "['Posts' => 'Afiŝoj']"),
    "translation/plugin/shop/1.0/de_DE.zip": await languagePackZip("shop", "de_DE", revised),
    "translation/theme/leaf/1.0/de_DE.zip": await languagePackZip("leaf", "de_DE", revised),
  };
  for (const [name, zip] of Object.entries(zips)) {
    await mkdir(path.dirname(path.join(folder, name)), { recursive: true });
    await writeFile(path.join(folder, name), zip);
  }
  mirror = makeMirror(folder);
  packageSource = `http://127.0.0.1:${await portOf(mirror)}`;
  world = await openPlayground({ packageSource });
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

/** Runs WP-CLI with the mirror as its package source. Returns its output, errors included. */
async function wp(...argv: readonly string[]): Promise<string> {
  return wpFrom(packageSource, ...argv);
}

async function wpFrom(from: string | null, ...argv: readonly string[]): Promise<string> {
  const ports = { edgePort: 8081, siteSuffix: "localhost" };
  const network = { run: world.run, credentialOf: () => "", ...ports, packageSource: from };
  const runtime = createPlaygroundRuntime({ assets: sharedAssets, environments: world.environments, network });
  const command = { phpVersion: "8.3", argv, seconds: 60 };
  const ended = await runtime.runWpCli(site.environment, command, async () => undefined, new AbortController().signal);
  return `${ended.stdout.text}${ended.stderr.text}`;
}

/** Runs commands in one process. Returns the output of each, errors included. */
async function wpAll(...commands: readonly string[]): Promise<readonly string[]> {
  const code = `fwrite(STDOUT, "\\n" . json_encode(array_map(function ($command) {
    $end = WP_CLI::runcommand($command, ['launch' => false, 'return' => 'all', 'exit_error' => false]);
    return $end->stdout . $end->stderr;
  }, json_decode('${JSON.stringify(commands)}'))));`;
  return JSON.parse((await wp("eval", code)).split("\n").findLast((line) => line.startsWith("[")) ?? "[]");
}

/** Sends a request to the site's REST API as its administrator. */
const rest = (method: string, where: string, parameters: Readonly<Record<string, unknown>> = {}) =>
  wordpress(
    `wp_set_current_user(1);
    $request = new WP_REST_Request('${method}', '${where}');
    $request->set_query_params(json_decode('${JSON.stringify(parameters)}', true));
    $answer = rest_do_request($request);
    return ['status' => $answer->get_status(), 'data' => $answer->get_data()];`,
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

  test("the REST API installs a plugin, with the site's languages", async () => {
    await wordpress("wp_mkdir_p(WP_LANG_DIR); return file_put_contents(WP_LANG_DIR . '/de_DE.mo', '');");
    expect(await rest("POST", "/wp/v2/plugins", { slug: "shop", status: "active" })).toMatchObject({
      status: 201,
      data: { plugin: "shop/shop", status: "active", version: "2.0" },
    });
    const files = "return array_map('basename', glob(WP_LANG_DIR . '/plugins/shop-*'));";
    expect(await wordpress(files)).toEqual(["shop-de_DE.l10n.php", "shop-de_DE.mo", "shop-de_DE.po"]);
  });

  test("the REST API answers 404 for a plugin that the mirror lacks", async () => {
    expect(await rest("POST", "/wp/v2/plugins", { slug: "unknown" })).toMatchObject({ status: 404 });
    expect(await rest("GET", "/wp/v2/block-directory/search", { term: "tea" })).toMatchObject({ status: 200 });
  });

  test("the dashboard lists plugins and themes to install, without a warning", async () => {
    const answer = await wordpress(`
      set_error_handler(function ($kind, $text) { throw new Error($text); });
      foreach (['admin', 'plugin-install', 'theme-install', 'theme'] as $name) require_once ABSPATH . "wp-admin/includes/$name.php";
      wp_set_current_user(1);
      set_current_screen('plugin-install');
      $GLOBALS['tab'] = 'search';
      $_REQUEST += ['tab' => 'search', 's' => 'tea'];
      $table = _get_list_table('WP_Plugin_Install_List_Table', ['screen' => 'plugin-install']);
      $table->prepare_items();
      ob_start();
      $table->display_rows();
      $plugins = ob_get_clean();
      $themes = array_column(themes_api('query_themes', ['browse' => 'popular'])->themes, 'slug');
      return [$plugins, $themes, install_popular_tags(), themes_api('theme_information', ['slug' => 'leaf'])->version];`);
    expect(answer).toEqual([expect.stringContaining("The shop"), ["leaf"], expect.anything(), "2.0"]);
  });

  test("WP-CLI installs older versions of plugins and themes, and goes back to them", async () => {
    const outputs = await wpAll(
      "plugin install akismet --version=98.0 --force",
      "plugin get akismet --field=version",
      "plugin update akismet --version=99.0",
      "plugin install akismet --version=97.0 --force",
      "theme install leaf --version=1.0",
      "theme update leaf",
      "theme get leaf --field=version",
      "plugin search tea --field=slug",
    );
    const expected = [
      "Success: Installed 1 of 1 plugins",
      "98.0",
      "Success: Installed 1 of 1 plugins",
      "(HTTP code 404)",
      "Success: Installed 1 of 1 themes",
      "Success: Updated 1 of 1 themes",
      "2.0",
      "shop",
    ];
    expect(outputs).toEqual(expected.map((text) => expect.stringContaining(text)));
  });

  test("WP-CLI and the dashboard install and update language packs", async () => {
    const outputs = await wpAll(
      "language core install eo --activate",
      "language core install de_DE",
      "language plugin install shop de_DE",
      "language theme install leaf de_DE",
      "language theme list leaf --status=installed --field=language",
    );
    const expected = [
      "Success: Installed 1 of 1 languages",
      "Success: Installed 1 of 1 languages",
      "already installed",
      "Success: Installed 1 of 1 languages",
      "de_DE",
    ];
    expect(outputs).toEqual(expected.map((text) => expect.stringContaining(text)));
    expect(await wordpress("return __('Posts');")).toBe("Afiŝoj");
    expect(await wp("site", "switch-language", "en_US")).toContain("Success");
    const old = `$file = WP_LANG_DIR . '/plugins/shop-de_DE.po';
      file_put_contents($file, str_replace('2036', '2016', file_get_contents($file)));
      foreach (['file', 'misc', 'class-wp-upgrader', 'update'] as $name) require_once ABSPATH . "wp-admin/includes/$name.php";
      $updates = function () { wp_clean_update_cache(); wp_update_plugins(); return wp_get_translation_updates(); };
      $found = $updates();
      $upgrader = new Language_Pack_Upgrader(new WP_Ajax_Upgrader_Skin());
      $upgrader->bulk_upgrade($found);
      return [array_map(fn ($one) => "$one->type $one->slug $one->language", $found), count($updates())];`;
    expect(await wordpress(old)).toEqual([["plugin shop de_DE"], 0]);
  });

  test("WP-CLI's own requests go there too", async () => {
    expect(await wp("plugin", "verify-checksums", "shop")).toContain("Success: Verified 1 of 1 plugins");
    expect(await wp("core", "verify-checksums")).toContain("(HTTP code 404)");
    const none = await wpFrom(null, "core", "verify-checksums");
    expect(none).toContain("This installation has no package source.");
  });

  test("other ports of this machine stay unreachable", async () => {
    const other = createServer((_, response) => response.end("secret"));
    const port = await portOf(other);
    const isError = await wordpress(`return is_wp_error(wp_remote_get('http://127.0.0.1:${port}/'));`);
    other.close();
    expect(isError).toBe(true);
  });
});

test("without a package source WordPress gets an error at once, and says so", async () => {
  const alone = await openPlayground({ packageSource: null });
  try {
    const own = await alone.site();
    const ask = "return wp_remote_get('https://api.wordpress.org/core/version-check/1.7/')->get_error_message();";
    expect(await wordpress(ask, own, alone)).toBe("This installation has no package source.");
    const lists = `foreach ( array( 'plugin-install', 'theme', 'translation-install' ) as $file ) {
        require_once ABSPATH . "wp-admin/includes/$file.php";
      }
      $search = array( 'search' => 'tea' );
      $lists = array( plugins_api( 'query_plugins', $search ), themes_api( 'query_themes', $search ), translations_api( 'core', null ) );
      return array_unique( array_map( static fn( $list ) => $list->get_error_message(), $lists ) );`;
    expect(await wordpress(lists, own, alone)).toEqual([
      "This installation has no package source that has lists of plugins, themes and languages.",
    ]);
  } finally {
    await alone.close();
  }
});
