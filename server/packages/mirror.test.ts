/** Answers of the mirror that only WordPress and WP-CLI read. `source.test.ts` has those that Sitewright reads too. */
import { createHash } from "node:crypto";
import { mkdir, mkdtemp, rm, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { fieldOf } from "@sitewright/runtimes/fields.ts";
import { describe, expect, onTestFinished, test } from "vitest";
import { describeMirror, makeMirror } from "./mirror.ts";
import { listening } from "./testing/listening.ts";
import { languagePackZip, pluginZip, themeZip, zipOf } from "./testing/zips.ts";

/** Starts a mirror of these zips, by path. Returns its folder and a function that reads JSON from it. */
async function mirror(zips: Readonly<Record<string, Buffer>>) {
  const folder = await mkdtemp(path.join(tmpdir(), "mirror-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  for (const [name, zip] of Object.entries(zips)) {
    await mkdir(path.dirname(path.join(folder, name)), { recursive: true });
    await writeFile(path.join(folder, name), zip);
  }
  const url = await listening(makeMirror(folder));
  const get = async (where: string): Promise<unknown> => (await fetch(url + where)).json();
  const post = async (where: string, fields: Readonly<Record<string, string>>): Promise<unknown> =>
    (await fetch(url + where, { method: "POST", body: new URLSearchParams(fields) })).json();
  const status = async (where: string) => (await fetch(url + where, { method: "HEAD" })).status;
  return { folder, url, get, post, status };
}

const fields = {
  Description: "Sells tea.",
  Author: "Ada",
  "Author URI": "https://ada.example",
  "Plugin URI": "https://shop.example",
  "Requires Plugins": "base, other",
};

describe("information about a package", () => {
  test("has every field that WordPress reads without a check", async () => {
    const { get } = await mirror({
      "shop.zip": await pluginZip("shop", "1.0", "", { "readme.txt": "=== Shop ===\nTested up to: 7.1\n" }, fields),
      "leaf.zip": await themeZip("leaf", "2.0"),
    });
    expect(await get("/plugins/info/1.2/?action=plugin_information&request[slug]=shop")).toMatchObject({
      name: "The shop",
      author: "Ada",
      homepage: "https://shop.example",
      tested: "7.1",
      short_description: "Sells tea.",
      requires_plugins: ["base", "other"],
      sections: { description: "Sells tea." },
      language_packs: [],
      icons: { default: expect.any(String) },
      banners: {},
      contributors: {},
      rating: 0,
      num_ratings: 0,
      active_installs: 0,
      last_updated: expect.stringMatching(/^\d{4}-\d\d-\d\d \d\d:\d\d GMT$/),
    });
    expect(await get("/themes/info/1.2/?action=theme_information&request[slug]=leaf")).toMatchObject({
      name: "The leaf",
      author: { display_name: "" },
      preview_url: "",
      language_packs: [],
      requires: false,
      requires_php: false,
    });
  });

  test("is refused for unknown packages with the words that WordPress looks for", async () => {
    const { get, status } = await mirror({});
    expect(await get("/plugins/info/1.2/?action=plugin_information&request[slug]=shop")).toEqual({
      error: "Plugin not found.",
    });
    expect(await get("/themes/info/1.2/?action=theme_information&request[slug]=shop")).toEqual({
      error: "Theme not found.",
    });
    expect(await status("/plugins/info/1.2/?action=plugin_information&request[slug]=shop")).toBe(404);
    expect(await status("/plugins/info/1.2/?action=drop_tables")).toBe(404);
  });
});

describe("a search", () => {
  const named = async (answer: unknown, kind: "plugins" | "themes") => {
    const list = fieldOf(answer, kind);
    return Array.isArray(list) ? list.map((one) => fieldOf(one, "slug")) : list;
  };
  async function shops() {
    const world = await mirror({
      "tea.zip": await pluginZip("tea", "1.0", "", {}, fields),
      "tea2.zip": await pluginZip("tea", "2.0", "", {}, fields),
      "coffee.zip": await pluginZip("coffee", "1.0"),
      "leaf.zip": await themeZip("leaf", "1.0"),
    });
    const find = (query: string) => world.get(`/plugins/info/1.2/?action=query_plugins&${query}`);
    return { ...world, find };
  }

  test("finds packages by words, author and browsing, each in its newest version", async () => {
    const { get, find } = await shops();
    expect(await named(await find("request[browse]=popular"), "plugins")).toEqual(["coffee", "tea"]);
    expect(await find("request[search]=SELLS+tea")).toMatchObject({
      info: { results: 1 },
      plugins: [{ version: "2.0" }],
    });
    expect(await named(await find("request[author]=ada"), "plugins")).toEqual(["tea"]);
    expect(await named(await find("request[browse]=favorites&request[user]=ada"), "plugins")).toEqual([]);
    const themes = await get("/themes/info/1.2/?action=query_themes&request[browse]=new");
    expect(await named(themes, "themes")).toEqual(["leaf"]);
  });

  test("is split into pages", async () => {
    const { find } = await shops();
    const second = await find("request[per_page]=1&request[page]=2");
    expect(second).toMatchObject({ info: { page: 2, pages: 2, results: 2 } });
    expect(await named(second, "plugins")).toEqual(["tea"]);
    expect(await find("request[per_page]=-5&request[page]=x")).toMatchObject({
      info: { page: 1, pages: 1, results: 2 },
    });
  });

  test("is sorted by the zips' dates for new packages", async () => {
    const { folder, find } = await shops();
    await utimes(path.join(folder, "coffee.zip"), 1, 1);
    expect(await named(await find("request[browse]=new"), "plugins")).toEqual(["tea", "coffee"]);
  });
});

test("zips are at the addresses that WP-CLI composes, also the newest version without a number", async () => {
  const { url, status } = await mirror({
    "a.zip": await pluginZip("shop", "1.9"),
    "b.zip": await pluginZip("shop", "1.10"),
  });
  expect(await status("/plugin/shop.1.9.zip")).toBe(200);
  expect(await status("/plugin/shop.1.8.zip")).toBe(404);
  const [newest, numbered] = await Promise.all(
    ["/plugin/shop.zip", "/plugin/shop.1.10.zip"].map(async (where) => (await fetch(url + where)).arrayBuffer()),
  );
  expect(newest).toEqual(numbered);
});

describe("language packs", () => {
  const revised = "2026-03-01 10:00:00+0000";
  const pack = (domain: string, locale: string) => languagePackZip(domain, locale, revised);

  test("are offered for the version, or else for the newest earlier one", async () => {
    const { url, get, post } = await mirror({
      "translation/core/7.1/de_DE.zip": await pack("", "de_DE"),
      "translation/core/7.0/de_DE.zip": await pack("", "de_DE"),
      "translation/core/7.2/de_DE.zip": await pack("", "de_DE"),
      "translation/core/7.0/pt_PT_ao90.zip": await pack("", "pt_PT_ao90"),
      "translation/theme/leaf/1.0/fr_FR.zip": await pack("leaf", "fr_FR"),
    });
    expect(await post("/translations/core/1.0/", { version: "7.1.1", wp_version: "7.1.1" })).toMatchObject({
      translations: [
        {
          language: "de_DE",
          version: "7.1",
          updated: "2026-03-01 10:00:00",
          english_name: "German (Germany)",
          native_name: "Deutsch (Deutschland)",
          package: `${url}/translation/core/7.1/de_DE.zip`,
          iso: { "1": "de" },
          strings: { continue: "Continue" },
        },
        { language: "pt_PT_ao90", version: "7.0", native_name: "português europeu", iso: { "1": "pt" } },
      ],
    });
    expect((await fetch(`${url}/translation/core/7.1/de_DE.zip`)).status).toBe(200);
    expect(await get("/translations/themes/1.0/?slug=leaf&version=1.2")).toMatchObject({
      translations: [{ language: "fr_FR", version: "1.0" }],
    });
    expect(await get("/translations/themes/1.0/?slug=other&version=1.2")).toEqual({ translations: [] });
  });

  test("are part of the information about a plugin", async () => {
    const { url, get } = await mirror({
      "shop.zip": await pluginZip("shop", "1.0"),
      "translation/plugin/shop/1.0/de_DE.zip": await pack("shop", "de_DE"),
    });
    expect(await get("/plugins/info/1.2/?action=plugin_information&request[slug]=shop")).toMatchObject({
      language_packs: [
        {
          type: "plugin",
          slug: "shop",
          language: "de_DE",
          version: "1.0",
          updated: "2026-03-01 10:00:00",
          package: `${url}/translation/plugin/shop/1.0/de_DE.zip`,
        },
      ],
    });
  });

  test.each([
    ["of a used language without files", {}, ["de_DE"], ["de_DE"]],
    ["that is newer", { de_DE: { "PO-Revision-Date": "2026-02-01 10:00:00+0000" } }, [], ["de_DE"]],
    [
      "that is newer in another time zone",
      { de_DE: { "PO-Revision-Date": "2026-03-01 11:59:00+0200" } },
      [],
      ["de_DE"],
    ],
    ["for files without a date", { de_DE: { "PO-Revision-Date": "" } }, [], ["de_DE"]],
    ["never if it is the same", { de_DE: { "PO-Revision-Date": revised } }, ["de_DE"], []],
    ["never of an unused language", {}, ["fr_FR"], []],
  ])("are offered as an update %s", async (_, installed, locales, offered) => {
    const { post } = await mirror({
      "translation/plugin/shop/1.0/de_DE.zip": await pack("shop", "de_DE"),
      "translation/core/7.1/de_DE.zip": await pack("", "de_DE"),
    });
    const languages = (answer: unknown) => {
      const list = fieldOf(answer, "translations");
      return Array.isArray(list) ? list.map((one) => fieldOf(one, "language")) : list;
    };
    const plugins = await post("/plugins/update-check/1.1/", {
      plugins: JSON.stringify({ plugins: { "shop/shop.php": { Version: "1.0" } } }),
      translations: JSON.stringify({ shop: installed }),
      locale: JSON.stringify(locales),
    });
    expect(languages(plugins)).toEqual(offered);
    const core = await post(`/core/version-check/1.7/?version=7.1.1&locale=${locales[0] ?? "en_US"}`, {
      translations: JSON.stringify({ default: installed }),
    });
    expect(languages(core)).toEqual(offered);
  });

  test("without a date of their own are not offered again and again", async () => {
    const { post } = await mirror({
      "translation/plugin/shop/1.0/de_DE.zip": await zipOf({ "shop-de_DE.l10n.php": "<?php return [];" }),
    });
    const check = {
      plugins: JSON.stringify({ plugins: { "shop/shop.php": { Version: "1.0" } } }),
      translations: JSON.stringify({ shop: { de_DE: { "PO-Revision-Date": "" } } }),
      locale: '["de_DE"]',
    };
    expect(await post("/plugins/update-check/1.1/", check)).toMatchObject({ translations: [] });
  });

  test("in the wrong place, or without translations, are skipped and described", async () => {
    const { folder } = await mirror({
      "translation/de_DE.zip": await pack("", "de_DE"),
      "translation/core/7.1/german.zip": await pack("", "de_DE"),
      "translation/core/7.1/de_DE.zip": await zipOf({ "folder/de_DE.po": "" }),
      "translation/core/7.1/fr_FR.zip": await pack("", "fr_FR"),
    });
    const wrong = "not a path of a language pack, such as translation/plugin/akismet/5.3/de_DE.zip.";
    expect(await describeMirror(folder)).toBe(
      [
        "Plugins: 0, themes: 0, versions of WordPress: 0, language packs: 1, zips: 1",
        "Left out: translation/core/7.1/de_DE.zip: there are no translations directly in it.",
        `Left out: translation/core/7.1/german.zip: ${wrong}`,
        `Left out: translation/de_DE.zip: ${wrong}`,
      ].join("\n"),
    );
  });
});

test("checksums of WordPress and of plugins are those of the files in the zips", async () => {
  const { get, status } = await mirror({
    "wordpress-7.1.1.zip": await zipOf({ "wordpress/wp-includes/a.php": "<?php" }),
    "shop.zip": await zipOf({ "shop/shop.php": "<?php\n/* Plugin Name: Shop\nVersion: 1.0 */", "shop/inc/a.php": "x" }),
  });
  const sum = (kind: string, text: string) => createHash(kind).update(text).digest("hex");
  expect(await get("/core/checksums/1.0/?version=7.1.1&locale=en_US")).toEqual({
    checksums: { "wp-includes/a.php": sum("md5", "<?php") },
  });
  expect(await get("/plugin-checksums/shop/1.0.json")).toMatchObject({
    files: { "inc/a.php": { md5: sum("md5", "x"), sha256: sum("sha256", "x") } },
  });
  expect(await status("/core/checksums/1.0/?version=7.1.2")).toBe(404);
  expect(await status("/plugin-checksums/shop/2.0.json")).toBe(404);
});

test("odd requests get an answer", async () => {
  const { post, status } = await mirror({ "a.zip": await pluginZip("shop", "1.0") });
  const odd = { plugins: '{"plugins":{"shop/shop.php":null}}', translations: "[", locale: '{"a":{}}' };
  expect(await post("/plugins/update-check/1.1/", odd)).toMatchObject({ plugins: { "shop/shop.php": {} } });
  expect(await post("/translations/plugins/1.0/", {})).toEqual({ translations: [] });
  expect(await status("/translations/moons/1.0/")).toBe(404);
  expect(await status("/plugin-checksums/..%2Fa/1.0.json")).toBe(404);
  expect(await status("/translation/core/..%2f..%2fa.zip")).toBe(404);
});
