/** Tests of what `runtime.ts` promises about WP-CLI, packages and replacing texts; part of `conformance.ts`. */
import { describe, expect, test } from "vitest";
import { type EnvironmentRef, RuntimeFailure, type WpCliCommand } from "../runtime.ts";
import type { Actions } from "./actions.ts";

const { signal } = new AbortController();
const change = { search: "Hello world!", replace: "Hello planet!" };
const missing: EnvironmentRef = { id: "7a1c8c8e-6d32-4c7e-8f0a-0d6d5b0f6a11", number: 999_999 };

export function testTools({ runtime, provisioned, servedAs, read, write, frontPage }: Actions): void {
  describe("search and replace", () => {
    test("replaces what the preview counted, and the preview changes nothing", async () => {
      const { environment } = await provisioned();
      const counted = await runtime().countReplacements(environment, change, signal);
      expect(counted.places.find(({ column }) => column === "post_title")).toMatchObject({ rows: 1, occurrences: 1 });
      expect(await runtime().countReplacements(environment, change, signal)).toEqual(counted);
      const staged = { environment, token: "one", change };
      expect(await runtime().stageReplacement(staged)).toEqual(counted);
      expect(await runtime().stageReplacement(staged)).toEqual(counted);
      await runtime().switchTo(environment, "one");
      expect((await runtime().countReplacements(environment, change, signal)).places).toEqual([]);
    });

    test("shares the files, and is undone by switching back", async () => {
      const { environment, wordpress } = await provisioned({ title: "Garden" });
      const before = await servedAs(environment);
      await runtime().stageReplacement({ environment, token: "one", change });
      await write(environment, "later.txt", "later");
      await runtime().switchTo(environment, "one");
      expect(await read(environment, "later.txt")).toBe("later");
      expect(await frontPage(environment, wordpress.address)).toContain("Garden");
      await runtime().switchBack(environment, "one");
      expect(await servedAs(environment)).toEqual(before);
      expect((await runtime().countReplacements(environment, change, signal)).places).not.toEqual([]);
    });

    test("reports which of the site's own addresses change", async () => {
      const { environment, wordpress } = await provisioned();
      const { host } = new URL(wordpress.address);
      const moved = { search: host, replace: "elsewhere.example" };
      const { addresses } = await runtime().countReplacements(environment, moved, signal);
      expect(addresses).toContainEqual({
        place: "wp_options: siteurl",
        from: wordpress.address,
        to: "http://elsewhere.example",
      });
    });

    test("fails with a reason if the environment does not exist", async () => {
      await expect(runtime().countReplacements(missing, change, signal)).rejects.toThrow(RuntimeFailure);
    });
  });

  describe("another address", () => {
    const to = "https://shop.example";

    test("is WordPress's address in the next release, and other texts stay by default", async () => {
      const { environment, wordpress } = await provisioned();
      const spec = { environment, token: "one", change: { from: wordpress.address, to }, isEverywhere: false };
      await runtime().stageAddress(spec);
      await runtime().stageAddress(spec);
      await runtime().switchTo(environment, "one");
      const { host } = new URL(wordpress.address);
      const left = await runtime().countReplacements(environment, { search: host, replace: "x" }, signal);
      expect(left.places.map(({ column }) => column)).toContain("guid");
      expect(left.addresses).toEqual([]);
      const { addresses } = await runtime().countReplacements(environment, { search: to, replace: "x" }, signal);
      expect(addresses).toContainEqual({ place: "wp_options: siteurl", from: to, to: "x" });
    });

    test("is in all texts if requested, and is undone by switching back", async () => {
      const { environment, wordpress } = await provisioned();
      const before = await servedAs(environment);
      const change = { from: wordpress.address, to };
      await runtime().stageAddress({ environment, token: "one", change, isEverywhere: true });
      await write(environment, "later.txt", "later");
      await runtime().switchTo(environment, "one");
      expect(await read(environment, "later.txt")).toBe("later");
      const old = { search: wordpress.address, replace: "x" };
      expect((await runtime().countReplacements(environment, old, signal)).places).toEqual([]);
      await runtime().switchBack(environment, "one");
      expect(await servedAs(environment)).toEqual(before);
      expect((await runtime().countReplacements(environment, old, signal)).places).not.toEqual([]);
    });

    test("fails with a reason if the environment does not exist", async () => {
      const spec = {
        environment: missing,
        token: "one",
        change: { from: "http://a.example", to },
        isEverywhere: false,
      };
      await expect(runtime().stageAddress(spec)).rejects.toThrow(RuntimeFailure);
    });
  });

  describe("plugins and themes", () => {
    const header = (fields: Record<string, string>) =>
      `<?php\n/*\n${Object.entries(fields)
        .map(([name, value]) => ` * ${name}: ${value}\n`)
        .join("")} */\n`;

    test("are read from the headers of their files", async () => {
      const { environment } = await provisioned();
      const plugins = "wp-content/plugins";
      await write(environment, `${plugins}/shop/shop.php`, header({ "Plugin Name": "A Shop", Version: "1.10" }));
      await write(environment, `${plugins}/shop/other.php`, header({ "Plugin Name": "Its other half" }));
      await write(environment, `${plugins}/single.php`, header({ "Plugin Name": "Single", "Update URI": "x.example" }));
      await write(environment, `${plugins}/none/none.php`, "<?php // Not a plugin's main file.");
      await write(environment, "wp-content/themes/leaf/style.css", "/*\nTheme Name: Leaf\nVersion: 2.0\n*/");
      const found = (await runtime().packages([environment, missing], signal)).get(environment.id);
      expect(found?.problem).toBeNull();
      const find = (name: string) => found?.packages.find((each) => each.name === name);
      expect(find("shop")).toEqual({
        kind: "plugin",
        name: "shop",
        file: "shop/shop.php",
        title: "A Shop",
        description: "",
        version: "1.10",
        updateUri: null,
        isActive: false,
        isAutoUpdated: false,
      });
      expect(find("single")).toMatchObject({ kind: "plugin", file: "single.php", updateUri: "x.example" });
      expect(find("leaf")).toMatchObject({ kind: "theme", file: "leaf", version: "2.0", isActive: false });
      expect(find("none")).toBeUndefined();
    });

    test("have not certainly stayed the same in an environment that has just changed, or is missing", async () => {
      const { environment } = await provisioned();
      const readAt = new Date();
      await write(environment, "wp-content/plugins/new.php", header({ "Plugin Name": "New" }));
      const read = [environment, missing].map((each) => ({ ...each, readAt }));
      expect(await runtime().unchangedPackages(read)).toEqual(new Set());
    });

    test("are none in a missing environment", async () => {
      expect(await runtime().packages([missing], signal)).toEqual(new Map());
      expect(await runtime().packages([], signal)).toEqual(new Map());
    });
  });

  describe("a WP-CLI command", () => {
    async function example(): Promise<WpCliCommand> {
      const { defaultPhpVersion } = await runtime().capabilities();
      return { phpVersion: defaultPhpVersion, argv: ["option", "get", "blogname"], seconds: 120 };
    }

    test("is started once and ends by itself", async () => {
      const { environment } = await provisioned();
      let starts = 0;
      const begin = async () => {
        starts += 1;
      };
      const outcome = await runtime().runWpCli(environment, await example(), begin, signal);
      expect([starts, outcome.exitCode, outcome.end]).toEqual([1, 0, "itself"]);
      expect(outcome.stdout.bytes).toBeGreaterThan(0);
    });

    test("is not started if `begin` rejects, if it is aborted, or if the environment does not exist", async () => {
      const { environment } = await provisioned();
      const command = await example();
      const refuse = () => Promise.reject(new Error("not now"));
      await expect(runtime().runWpCli(environment, command, refuse, signal)).rejects.toThrow("not now");
      const aborted = AbortSignal.abort(new Error("gone"));
      await expect(runtime().runWpCli(environment, command, refuse, aborted)).rejects.toThrow("gone");
      await expect(runtime().runWpCli(missing, command, refuse, signal)).rejects.toThrow(RuntimeFailure);
    });
  });
}
