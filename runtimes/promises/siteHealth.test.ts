/** Site Health blames no owner for what the installation does instead of WordPress. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { runPhp, type Site } from "../testing/visitor.ts";
import { openWorld, type SiteWorld } from "../testing/world.ts";

let world: SiteWorld;
let site: Site;
beforeAll(async () => {
  world = await openWorld({ packageSource: "http://127.0.0.1:9" });
  site = await world.site();
}, 120_000);
afterAll(() => world.close());

/** Runs PHP code in the site, logged in as its administrator, after `before`, which runs before WordPress. */
const wordpress = async (code: string, before = "", of = site, on = world): Promise<unknown> =>
  JSON.parse(
    await runPhp(
      on.serving,
      of,
      `${before} require '/site/wp-load.php'; require_once ABSPATH . 'wp-admin/includes/admin.php'; wp_set_current_user(1);
      $health = WP_Site_Health::get_instance(); echo json_encode((function () use ($health) { ${code} })());`,
    ),
  );

const result = (test: string) => `$result = apply_filters('site_status_test_result', $health->get_test_${test}());
  return [$result['status'], $result['label']];`;

test("background updates are good, also through the REST API", async () => {
  const request = "new WP_REST_Request('GET', '/wp-site-health/v1/tests/background-updates')";
  expect(await wordpress(`return rest_do_request(${request})->get_data();`)).toMatchObject({
    status: "good",
    label: "Updates are made by the host",
    test: "background_updates",
  });
  const anonymous = `wp_set_current_user(0); return rest_do_request(${request})->get_status();`;
  expect(await wordpress(anonymous)).toBe(401);
  const other =
    "return rest_do_request(new WP_REST_Request('GET', '/wp-site-health/v1/tests/dotorg-communication'))->get_data();";
  expect(await wordpress(other)).toMatchObject({ test: "dotorg_communication" });
});

describe("the tests on the dashboard", () => {
  const names =
    "$tests = WP_Site_Health::get_tests(); return [array_keys($tests['direct']), array_keys($tests['async'])];";

  test("leave out what a mirror does not know", async () => {
    const [direct, asynchronous] = [
      expect.not.arrayContaining(["php_version"]),
      expect.arrayContaining(["page_cache"]),
    ];
    expect(await wordpress(names)).toEqual([direct, asynchronous]);
    expect(await wordpress(names)).toEqual([expect.anything(), expect.not.arrayContaining(["background_updates"])]);
  });

  test("are WordPress's own with WordPress.org as the package source", async () => {
    const usual = await openWorld();
    try {
      const own = await usual.site();
      expect(await wordpress(names, "", own, usual)).toEqual([
        expect.arrayContaining(["php_version"]),
        expect.anything(),
      ]);
    } finally {
      await usual.close();
    }
  });
});

test("no separate object cache is recommended, however large the site is", async () => {
  const network = await world.site({ multisite: "subdirectory" });
  expect(await wordpress(result("persistent_object_cache"), "", network)).toEqual(["good", expect.anything()]);
});

describe("debug mode", () => {
  const on = "define('WP_DEBUG', true);";

  test("is good if errors go to a log, which visitors can't read", async () => {
    const log = `${on} define('WP_DEBUG_LOG', true); define('WP_DEBUG_DISPLAY', false);`;
    const label = "Errors are logged to a file that visitors can not read";
    expect(await wordpress(result("is_in_debug_mode"), log)).toEqual(["good", label]);
  });

  test.each([
    ["errors are shown to visitors", "define('WP_DEBUG_LOG', true); define('WP_DEBUG_DISPLAY', true);", "critical"],
    [
      "the log has a name that is served",
      "define('WP_DEBUG_LOG', '/site/errors.txt'); define('WP_DEBUG_DISPLAY', false);",
      "critical",
    ],
  ])("is as WordPress says if %s", async (_, constants, status) => {
    expect(await wordpress(result("is_in_debug_mode"), `${on} ${constants}`)).toEqual([status, expect.anything()]);
  });
});
