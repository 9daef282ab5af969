/** Changes the address in a real WordPress's database. PHP must be able to read every value that PHP has written. */
import { readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { serialize, someValue } from "../../playground/testing/serialize.ts";
import { openPlayground, type Playground } from "../../playground/testing/world.ts";
import { addressChanger } from "../../site/values/addressChanger.ts";
import { changeText } from "../../site/values/serialized.ts";
import { addScript, runPhp, type Site, visitorOf } from "../../testing/visitor.ts";
import { databaseFile } from "../databaseFiles.ts";
import { changeAddresses } from "./addresses.ts";

const to = "http://staging-of-a-longer-name.localhost:8081";

let world: Playground;
beforeAll(async () => {
  world = await openPlayground();
}, 120_000);
afterAll(() => world.close());

function databaseOf(site: Site): string {
  return path.join(path.dirname(site.documentRoot), "database", databaseFile);
}

function values(address: string): string {
  return `
  $address = '${address}';
  $list = ['url' => "$address/ünï/日本", 'deep' => [serialize(['a' => "$address/🦄", 'n' => 1.5]), null, true]];
  $values = [
    'list' => $list,
    'object' => new Kept($address),
    'json' => json_encode($list),
    'json_in_list' => [json_encode(['a' => $list, 'b' => serialize($list)]), json_encode($list, JSON_UNESCAPED_SLASHES | JSON_HEX_QUOT)],
    'twice' => serialize(serialize($list)),
    'own' => [new Own($list)],
    'spl' => new ArrayObject([$address, new SplObjectStorage()]),
    'plain' => "$address/?to=" . urlencode($address),
    'widget_block' => [2 => ['content' => '<!-- wp:image {"url":"' . $address . '/a.png"} --><img src="' . $address . '/a.png"/>'], '_multiwidget' => 1],
  ];
  $attributes = [
    'url' => "$address/--x", 'html' => '<a href="' . $address . '">', 'kept' => serialize($list),
    'json' => json_encode(['url' => $address]), 'list' => $list,
  ];`;
}

const classes = `
  class Kept { public $a; protected $b; private $c; public $same;
    function __construct($address) {
      $this->a = "$address/🦄"; $this->b = [$address => $address]; $this->c = $address; $o = (object) [$address => $address]; $this->same = [$o, $o];
    }
  }
  class Own implements Serializable {
    public $data;
    function __construct($data) { $this->data = $data; }
    function serialize() { return serialize($this->data); }
    function unserialize($text) { $this->data = unserialize($text); }
  }
  require 'wp-load.php';`;

describe("a site with a new address", () => {
  let site: Site;
  beforeAll(async () => {
    site = await world.site();
    const code = `${classes} ${values(site.wordpress.address)}
      foreach ($values as $name => $value) update_option("test_$name", $value);
      update_option('widget_block', $values['widget_block']);
      $content = '<!-- wp:a ' . serialize_block_attributes($attributes) . ' /-->';
      wp_insert_post(wp_slash(['post_title' => 'Blocks', 'post_name' => 'blocks', 'post_content' => $content, 'post_status' => 'publish']));
      echo 'stored';`;
    expect(await runPhp(world.serving, site, code)).toBe("stored");
    expect(changeAddresses(databaseOf(site), [{ from: site.wordpress.address, to }]).rows).toBeGreaterThan(10);
  }, 120_000);

  test("has every value as if it had been stored with the new address", async () => {
    const code = `${classes} ${values(to)}
      $wrong = [];
      foreach ($values as $name => $value)
        if (serialize(get_option("test_$name")) !== serialize($value))
          $wrong[$name] = addcslashes(serialize(get_option("test_$name")), "\\0..\\37\\177..\\377");
      if (get_option('widget_block') !== $values['widget_block']) $wrong[] = 'widgets';
      echo json_encode($wrong);`;
    expect(JSON.parse(await runPhp(world.serving, site, code))).toEqual([]);
  });

  test("has it in block attributes, whose other escapes stay", async () => {
    const code = `${classes} ${values(to)}
      $content = get_page_by_path('blocks', OBJECT, 'post')->post_content;
      echo json_encode([parse_blocks($content)[0]['attrs'], $attributes, $content]);`;
    const [found, expected, content] = JSON.parse(await runPhp(world.serving, site, code));
    expect(found).toEqual(expected);
    expect(content).toContain(`/\\u002d\\u002dx`);
  });

  test("uses it as its own address, and no other", async () => {
    const code = `${classes} echo home_url(), ' ', site_url(), ' ', get_post(1)->guid;`;
    expect(await runPhp(world.serving, site, code)).toBe(`${to} ${to} ${to}/?p=1`);
    const database = new DatabaseSync(databaseOf(site), { readOnly: true });
    try {
      const find = database.prepare("SELECT count(*) AS rows FROM wp_options WHERE instr(lower(option_value), ?)");
      expect(find.get(new URL(site.wordpress.address).host)).toEqual({ rows: 0 });
      expect(database.prepare("PRAGMA integrity_check").get()).toEqual({ integrity_check: "ok" });
    } finally {
      database.close();
    }
  });

  test("PHP reads generated values with a changed address, and would write them identically", async () => {
    const from = site.wordpress.address;
    const change = addressChanger([{ from, to }]);
    const changed = Array.from({ length: 500 }, (_, seed) => changeText(serialize(someValue(seed, from)), change));
    expect(changed).toEqual(changed.map((_, seed) => serialize(someValue(seed, to))));
    const lines = changed.map((text) => Buffer.from(text).toString("base64")).join("\n");
    await addScript(site, "values.php", `return <<<'END'\n${lines}\nEND;`);
    const code = String.raw`
      $wrong = [];
      foreach (explode("\n", require 'values.php') as $seed => $line) {
        $text = base64_decode($line);
        if (serialize(unserialize($text)) !== $text) $wrong[] = $seed;
      }
      echo json_encode($wrong);`;
    expect(JSON.parse(await runPhp(world.serving, site, code))).toEqual([]);
  });
});

test("a network answers at its new address, and so does its subdomain site", async () => {
  const site = await world.site({ multisite: "subdomain" });
  const { host } = new URL(site.wordpress.address);
  const made = `require 'wp-load.php'; require_once ABSPATH . 'wp-admin/includes/ms.php';
    echo wp_insert_site(['domain' => 'shop.${host}', 'path' => '/', 'title' => 'Shop', 'user_id' => 1, 'network_id' => 1]);`;
  expect(await runPhp(world.serving, site, made)).toBe("2");
  const changes = [{ from: site.wordpress.address, to }];
  changeAddresses(databaseOf(site), changes);
  const config = path.join(site.documentRoot, "wp-config.php");
  await writeFile(config, addressChanger(changes)(await readFile(config, "utf8")));
  const moved = { ...site, wordpress: { ...site.wordpress, address: to } };
  expect(await visitorOf(world.serving, moved).get("/")).toMatchObject({ status: 200 });
  const shop = { ...site, wordpress: { ...site.wordpress, address: to.replace("//", "//shop.") } };
  const page = await visitorOf(world.serving, shop).get("/");
  expect(page).toMatchObject({ status: 200, text: expect.stringContaining("<title>Shop") });
  expect(page.text).not.toContain(host);
  const found =
    "require 'wp-load.php'; echo COOKIE_DOMAIN, ' ', get_network()->domain, ' ', get_network_option(1, 'siteurl');";
  const domain = new URL(to).hostname;
  expect(await runPhp(world.serving, moved, found)).toBe(`.${domain} ${domain}:8081 ${to}/`);
});
