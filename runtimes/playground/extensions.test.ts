/** PHP's extensions, as sites see them: in pages and in WP-CLI, for every version of PHP. */
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { runPhp, type Site } from "../testing/visitor.ts";
import { assembleExtensions } from "./extensions/extensions.ts";
import { extensionsFolder } from "./extensions/extensionsFolder.ts";
import { bootPhp } from "./php/boot.ts";
import { phpVersions } from "./php/versions.ts";
import { openPlayground, type Playground, sharedAssets } from "./testing/world.ts";

let world: Playground;
let site: Site;
beforeAll(async () => {
  world = await openPlayground();
  site = await world.site();
}, 120_000);
afterAll(() => world.close());

const php = (code: string) => runPhp(world.serving, site, code);

async function wp(code: string): Promise<string> {
  const command = { phpVersion: "8.3", argv: ["eval", code], seconds: 60 };
  const { signal } = new AbortController();
  const outcome = await world.runtime.runWpCli(site.environment, command, async () => undefined, signal);
  return outcome.stdout.text;
}

/** One expression for each part of ICU's data. */
const expressions: Readonly<Record<string, string>> = {
  "Normalizer::normalize('a\u0308')": "ä",
  "idn_to_ascii('bücher.example')": "xn--bcher-kva.example",
  "(function ($a) { (new Collator('de_DE'))->sort($a); return implode(' ', $a); })(['z', 'Äpfel', 'apfel', 'Zoo'])":
    "apfel Äpfel z Zoo",
  "(new NumberFormatter('de_DE', NumberFormatter::CURRENCY))->formatCurrency(1234.5, 'EUR')": "1.234,50\u00a0€",
  "MessageFormatter::formatMessage('en', '{0, plural, one{# file} other{# files}}', [2])": "2 files",
  "transliterator_transliterate('Any-Latin; Latin-ASCII', 'Привет')": "Privet",
  "Locale::getDisplayLanguage('ja', 'fr')": "japonais",
  "IntlDateFormatter::create('en_GB', IntlDateFormatter::LONG, IntlDateFormatter::NONE, 'Asia/Tokyo')->format(0)":
    "1 January 1970",
  "MessageFormatter::formatMessage('de_DE', '{when, date, long}: {sum, number, currency}', ['when' => 0, 'sum' => 3.5])":
    "1. Januar 1970: 3,50\u00a0€",
  "(new NumberFormatter('en', NumberFormatter::SPELLOUT))->format(42)": "forty-two",
  "IntlTimeZone::createTimeZone('Europe/Berlin')->getDisplayName()": "Central European Standard Time",
  "(new UConverter('UTF-8', 'ISO-8859-1'))->convert(chr(0xe9))": "é",
  "iterator_count((function () { $i = IntlBreakIterator::createWordInstance('th'); $i->setText('ภาษาไทย'); return $i; })())":
    "3",
};
const echoAll = `echo json_encode([${Object.keys(expressions).join(", ")}], JSON_UNESCAPED_UNICODE);`;
const results = Object.values(expressions).map((value) => (/^\d$/.test(value) ? Number(value) : value));

describe("intl", () => {
  test("works in pages", async () => {
    expect(JSON.parse(await php(echoAll))).toEqual(results);
  }, 60_000);

  test("works in WP-CLI", async () => {
    expect(JSON.parse(await wp(echoAll))).toEqual(results);
  }, 60_000);

  test.each(phpVersions)(
    "works in PHP %s",
    async (version) => {
      const extensions = extensionsFolder(sharedAssets);
      const instance = await bootPhp({ version, network: () => null, opcodes: null, extensions });
      const response = await instance.runStream({ code: `<?php ${echoAll}` });
      expect(JSON.parse(await response.stdoutText)).toEqual(results);
      expect(await response.stderrText).toBe("");
    },
    60_000,
  );

  test("can't be changed by a site", async () => {
    const change = "echo json_encode(@file_put_contents(ini_get('extension_dir') . '/x', 'x')), ";
    const files = "json_encode([@unlink('/internal/extensions/8.3/intl.so'), @touch('/internal/extensions/new')]);";
    expect(await php(change + files)).toBe("false[false,false]");
  }, 60_000);
});

test("the folder of extensions is created once, by several processes", async () => {
  const folder = await mkdtemp(path.join(tmpdir(), "extensions-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  await mkdir(path.join(folder, "extensions"));
  await Promise.all([assembleExtensions(folder), assembleExtensions(folder)]);
  const created = extensionsFolder(folder);
  expect((await readdir(created)).toSorted()).toEqual([...phpVersions, "icudt74l"].toSorted());
  expect(existsSync(`${created}.new`)).toBe(false);
}, 60_000);

test("Site Health misses no extension", async () => {
  const code = `require_once ABSPATH . 'wp-admin/includes/class-wp-site-health.php';
    $result = WP_Site_Health::get_instance()->get_test_php_extensions(); echo $result['status'], $result['description'];`;
  expect(await wp(code)).toMatch(/^good/);
}, 60_000);
