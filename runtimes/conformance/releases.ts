/** Tests of what `runtime.ts` promises about releases; part of `conformance.ts`. */
import { mkdir, mkdtemp, readdir, readFile, realpath, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { RuntimeFailure } from "../runtime.ts";
import type { Actions, Pair } from "./actions.ts";
import { exampleSpec } from "./conformance.ts";

export function testReleases({ runtime, provisioned, servedAs, write, read, frontPage, pair }: Actions): void {
  describe("packages installed into a staged release", () => {
    const plugin = "wp-content/plugins/shop";

    async function newVersion(): Promise<string> {
      const folder = await mkdtemp(path.join(tmpdir(), "package-"));
      onTestFinished(() => rm(folder, { recursive: true }));
      await writeFile(path.join(folder, "shop.php"), "<?php\n/* Plugin Name: Shop\n * Version: 2.0 */\n");
      return folder;
    }

    test("replace the old version, which visitors get until the switch", async () => {
      const { environment } = await provisioned();
      await write(environment, `${plugin}/shop.php`, "<?php\n/* Plugin Name: Shop\n * Version: 1.0 */\n");
      await write(environment, `${plugin}/old.php`, "<?php");
      await write(environment, "wp-content/themes/leaf/style.css", "/* Theme Name: Leaf */");
      const folder = await newVersion();
      const whole = {
        environment,
        source: environment,
        token: "one",
        files: "all",
        database: "all",
        addresses: [],
      } as const;
      await runtime().stage(whole);
      const packages = [{ kind: "plugin", name: "shop", folder } as const];
      for (let round = 0; round < 2; round += 1) await runtime().installPackages(environment, "one", packages);
      expect(await read(environment, `${plugin}/old.php`)).not.toBeNull();
      await runtime().switchTo(environment, "one");
      expect(await read(environment, `${plugin}/old.php`)).toBeNull();
      const found = (await runtime().packages([environment], new AbortController().signal)).get(environment.id);
      expect(found?.packages.find(({ name }) => name === "shop")?.version).toBe("2.0");
      expect(found?.packages.find(({ name }) => name === "leaf")).toBeDefined();
    });

    test("can also go into the current release of an environment that is being created", async () => {
      const { environment } = await provisioned();
      await write(environment, `${plugin}/old.php`, "<?php");
      const packages = [{ kind: "plugin", name: "shop", folder: await newVersion() } as const];
      for (let round = 0; round < 2; round += 1) await runtime().installPackages(environment, null, packages);
      expect(await read(environment, `${plugin}/shop.php`)).toContain("Version: 2.0");
      expect(await read(environment, `${plugin}/old.php`)).toBeNull();
    });

    test("are refused without a staged release, without its own files, and outside the folder for packages", async () => {
      const { environment } = await provisioned();
      await write(environment, `${plugin}/shop.php`, "<?php");
      const packages = [{ kind: "plugin", name: "shop", folder: await newVersion() } as const];
      await expect(runtime().installPackages(environment, "one", packages)).rejects.toThrow(RuntimeFailure);
      const nothing = { files: "none", database: "none", addresses: [] } as const;
      await runtime().stage({ environment, source: environment, token: "one", ...nothing });
      await expect(runtime().installPackages(environment, "one", packages)).rejects.toThrow(RuntimeFailure);
      await runtime().stage({
        environment,
        source: environment,
        token: "two",
        ...nothing,
        files: "all",
        database: "all",
      });
      for (const name of ["..", ".", "a/b", ""]) {
        const misnamed = packages.map((each) => ({ ...each, name }));
        await expect(runtime().installPackages(environment, "two", misnamed)).rejects.toThrow(RuntimeFailure);
      }
      const staged = await runtime().staged(environment, "two");
      const themes = path.join(staged?.documentRoot ?? "", "wp-content/themes");
      await rm(themes, { recursive: true, force: true });
      await symlink(tmpdir(), themes);
      const theme = packages.map((each) => ({ ...each, kind: "theme" as const }));
      await expect(runtime().installPackages(environment, "two", theme)).rejects.toThrow("The site has no folder");
    });
  });

  describe("another version of WordPress core", () => {
    const whole = { token: "one", files: "all", database: "all", addresses: [] } as const;
    const version = "77.1-conformance";
    /** Files of the site owner next to WordPress core. */
    const sitesOwn = ["wp-config.php", ".htaccess"];

    async function newWordPress(): Promise<string> {
      const folder = await mkdtemp(path.join(tmpdir(), "wordpress-"));
      onTestFinished(() => rm(folder, { recursive: true }));
      for (const name of ["wp-admin", "wp-includes"]) {
        await mkdir(path.join(folder, name));
        await writeFile(path.join(folder, name, "version.php"), `<?php $wp_version = '${version}';\n`);
      }
      await writeFile(path.join(folder, "index.php"), "<?php // Newer.\n");
      for (const name of sitesOwn) await writeFile(path.join(folder, name), "Not the site's.");
      return folder;
    }

    test("is installed in the staged release only, and used after the switch", async () => {
      const { environment } = await provisioned();
      await write(environment, "wp-content/mine.txt", "mine");
      await write(environment, ".htaccess", "mine");
      const before = await runtime().layout(environment);
      const own = await Promise.all(sitesOwn.map((name) => read(environment, name)));
      await runtime().stage({ ...whole, environment, source: environment });
      const wordpress = { version, folder: await newWordPress() };
      for (let round = 0; round < 2; round += 1) await runtime().installWordPress(environment, "one", wordpress);
      expect(await runtime().layout(environment)).toEqual(before);
      expect((await runtime().staged(environment, "one"))?.wordpressVersion).toBe(version);
      await runtime().switchTo(environment, "one");
      const layout = await runtime().layout(environment);
      expect(layout?.wordpressVersion).toBe(version);
      expect(await read(environment, "index.php")).toBe("<?php // Newer.\n");
      expect(await read(environment, "wp-content/mine.txt")).toBe("mine");
      expect(await Promise.all(sitesOwn.map((name) => read(environment, name)))).toEqual(own);
      for (const [name, folder] of Object.entries(layout?.overlays ?? {})) {
        expect(await readFile(path.join(folder, "version.php"), "utf8"), name).toContain(version);
      }
      await runtime().switchBack(environment, "one");
      expect(await runtime().layout(environment)).toEqual(before);
    });

    test("is kept in clones and snapshots", async () => {
      const { environment } = await provisioned();
      await runtime().stage({ ...whole, environment, source: environment });
      await runtime().installWordPress(environment, "one", { version, folder: await newWordPress() });
      await runtime().switchTo(environment, "one");
      const parent = await mkdtemp(path.join(tmpdir(), "snapshots-"));
      onTestFinished(() => rm(parent, { recursive: true, force: true }));
      const folder = path.join(parent, "one");
      await runtime().snapshot(environment, folder);
      for (const source of [environment, { folder }]) {
        const copy = exampleSpec().environment;
        expect(await runtime().clone({ environment: copy, source, addresses: [] })).toEqual({
          wordpressVersion: version,
        });
        expect((await runtime().layout(copy))?.wordpressVersion).toBe(version);
      }
    });

    test("is refused without a staged release or without WordPress", async () => {
      const { environment } = await provisioned();
      const wordpress = { version, folder: await newWordPress() };
      await expect(runtime().installWordPress(environment, "one", wordpress)).rejects.toThrow(RuntimeFailure);
      const plain = exampleSpec().environment;
      await runtime().provision({ ...exampleSpec(), environment: plain, wordpress: null });
      await runtime().stage({ ...whole, environment: plain, source: plain });
      await expect(runtime().installWordPress(plain, "one", wordpress)).rejects.toThrow(RuntimeFailure);
    });
  });

  describe("a staged release", () => {
    test("can be read next to the current one, which visitors still get", async () => {
      const { source, target, spec } = await pair();
      await write(source, "new.txt", "new");
      const before = await servedAs(target);
      await runtime().stage({ ...spec, token: "one" });
      expect(await servedAs(target)).toEqual(before);
      const staged = await runtime().staged(target, "one");
      expect(staged?.release).toBeGreaterThan(before.release);
      const documentRoot = staged?.documentRoot ?? "";
      expect(await realpath(documentRoot)).toBe(documentRoot);
      expect(await readFile(path.join(documentRoot, "new.txt"), "utf8")).toBe("new");
      expect(await runtime().staged(target, "two")).toBeNull();
    });

    test("is served after the switch, and the previous one after the switch back", async () => {
      const { source, target, address, spec } = await pair();
      await write(source, "new.txt", "new");
      await write(target, "old.txt", "old");
      const before = await servedAs(target);
      await runtime().stage({ ...spec, token: "one" });
      const staged = await runtime().staged(target, "one");
      for (let round = 0; round < 2; round += 1) await runtime().switchTo(target, "one");
      expect(await runtime().layout(target)).toEqual(staged);
      expect(await runtime().staged(target, "one")).toBeNull();
      expect(await read(target, "new.txt")).toBe("new");
      expect(await read(target, "old.txt")).toBeNull();
      expect(await frontPage(target, address)).toContain("Staging garden");
      await runtime().unstage(target, "one");
      expect(await runtime().layout(target)).toEqual(staged);
      for (let round = 0; round < 2; round += 1) await runtime().switchBack(target, "one");
      expect(await servedAs(target)).toEqual(before);
      expect(await frontPage(target, address)).toContain("Live garden");
      expect(await read(target, "old.txt")).toBe("old");
    }, 60_000);

    test("is built once for each token, however often stage is called", async () => {
      const { source, target, spec } = await pair();
      await runtime().stage({ ...spec, token: "one" });
      const staged = await runtime().staged(target, "one");
      await write(source, "later.txt", "later");
      await runtime().stage({ ...spec, token: "one" });
      expect(await runtime().staged(target, "one")).toEqual(staged);
      await expect(readFile(path.join(staged?.documentRoot ?? "", "later.txt"))).rejects.toThrow();
      await runtime().stage({ ...spec, token: "two" });
      expect((await runtime().staged(target, "two"))?.release).not.toBe(staged?.release);
    });

    test("is removed by unstage, and its number is never used again", async () => {
      const { target, spec } = await pair();
      await runtime().stage({ ...spec, token: "one" });
      const first = await runtime().staged(target, "one");
      for (let round = 0; round < 2; round += 1) await runtime().unstage(target, "one");
      expect(await runtime().staged(target, "one")).toBeNull();
      await expect(readdir(first?.documentRoot ?? "")).rejects.toThrow();
      await runtime().stage({ ...spec, token: "one" });
      expect((await runtime().staged(target, "one"))?.release).toBeGreaterThan(first?.release ?? 0);
    });

    test("shares parts that are not replaced, so that later writes to them are not lost", async () => {
      const { target, spec } = await pair({ files: "none" });
      await runtime().stage({ ...spec, token: "one" });
      await write(target, "meanwhile.txt", "uploaded");
      await runtime().switchTo(target, "one");
      expect(await read(target, "meanwhile.txt")).toBe("uploaded");
      await write(target, "afterwards.txt", "uploaded");
      await runtime().switchBack(target, "one");
      expect(await read(target, "afterwards.txt")).toBe("uploaded");
    });

    test("is rehearsed with copies of shared parts, so that changes to them affect nothing else", async () => {
      const { target, spec } = await pair({ files: "none" });
      await write(target, "shared.txt", "shared");
      await expect(runtime().rehearse(target, "one")).rejects.toThrow();
      await runtime().stage({ ...spec, token: "one" });
      for (let round = 0; round < 2; round += 1) {
        const { release, documentRoot } = await runtime().rehearse(target, "one");
        expect(release).toBeGreaterThan((await runtime().staged(target, "one"))?.release ?? 0);
        const file = path.join(documentRoot, "shared.txt");
        expect(await readFile(file, "utf8")).toBe("shared");
        await writeFile(file, "changed");
        await writeFile(path.join(documentRoot, "more.txt"), "more");
      }
      const served = async () => [await read(target, "shared.txt"), await read(target, "more.txt")];
      expect(await served()).toEqual(["shared", null]);
      await runtime().switchTo(target, "one");
      expect(await served()).toEqual(["shared", null]);
    });

    test.each(["unstage", "prune"] as const)("has no rehearsal after %s", async (end) => {
      const { target, spec } = await pair({ files: "none" });
      await runtime().stage({ ...spec, token: "one" });
      const { documentRoot } = await runtime().rehearse(target, "one");
      expect((await readdir(documentRoot)).length).toBeGreaterThan(0);
      if (end === "unstage") await runtime().unstage(target, "one");
      else {
        await runtime().switchTo(target, "one");
        await runtime().prune(target);
      }
      await expect(readdir(path.dirname(documentRoot))).rejects.toThrow();
    });

    test.each([
      ["everything", "all", "all", ["then", null]],
      ["only the files", "all", "none", ["then", null]],
      ["only the database", "none", "all", ["now", "now"]],
    ] as const)(
      "can take %s from a snapshot as from an environment, even after the environment is gone",
      async (_, files, database, found) => {
        const { source, target, spec } = await pair({ files, database });
        await write(source, "a.txt", "then");
        const parent = await mkdtemp(path.join(tmpdir(), "snapshots-"));
        onTestFinished(() => rm(parent, { recursive: true, force: true }));
        const folder = path.join(parent, "one");
        await runtime().snapshot(source, folder);
        // The files of a snapshot may be hard links to the environment's files.
        await runtime().destroy(source);
        await write(target, "a.txt", "now");
        await write(target, "b.txt", "now");
        await runtime().stage({ ...spec, source: { folder }, token: "one" });
        await runtime().switchTo(target, "one");
        expect([await read(target, "a.txt"), await read(target, "b.txt")]).toEqual(found);
      },
    );

    test("has the listed files and folders of the source, and its own other files", async () => {
      const { source, target, spec } = await pair({ files: ["a.txt", "folder/inner/"], database: "none" });
      for (const name of ["a.txt", "b.txt", "folder/inner/new.txt", "folder/outer.txt"])
        await write(source, name, "source");
      for (const name of ["a.txt", "b.txt", "folder/inner/old.txt", "own.txt"]) await write(target, name, "target");
      await runtime().stage({ ...spec, token: "one" });
      await runtime().switchTo(target, "one");
      expect(await read(target, "a.txt")).toBe("source");
      expect(await read(target, "b.txt")).toBe("target");
      expect(await read(target, "own.txt")).toBe("target");
      expect(await read(target, "folder/inner/new.txt")).toBe("source");
      expect(await read(target, "folder/inner/old.txt")).toBeNull();
      expect(await read(target, "folder/outer.txt")).toBeNull();
    });

    describe("can't be staged", () => {
      let both: Pair;
      beforeAll(async () => {
        both = await pair();
        await write(both.source, "a.txt", "source");
        await symlink(tmpdir(), path.join((await servedAs(both.source)).documentRoot, "linked"));
      });

      const malformed = [
        "",
        "/a.txt",
        "../a.txt",
        "folder/../a.txt",
        "./a.txt",
        "a\\..\\b",
        "a\0.txt",
        "folder//x",
        ".",
      ];
      const missing = ["missing.txt", "a.txt/below", "linked/x.txt", "wp-admin/index.php", "wp-includes"];
      test.each([...malformed, ...missing])("with the path %j", async (file) => {
        const spec = { ...both.spec, files: ["a.txt", file] };
        const named = `"${file.replaceAll("\0", "\\0")}"`;
        const staging = runtime().stage({ ...spec, token: "one" });
        await expect(staging).rejects.toThrow(RuntimeFailure);
        await expect(staging).rejects.toThrow(named);
        await expect(runtime().compare(spec)).rejects.toThrow(named);
        expect(await runtime().staged(both.target, "one")).toBeNull();
      });

      test("with a table that the source doesn't have", async () => {
        const database = ["wp_options", "wp_nothing"];
        const staging = runtime().stage({ ...both.spec, files: "none", database, token: "one" });
        await expect(staging).rejects.toThrow(RuntimeFailure);
        await expect(staging).rejects.toThrow("wp_nothing");
        expect(await runtime().staged(both.target, "one")).toBeNull();
      });
    });

    test("can't combine files and database of different kinds of network", async () => {
      const { source, spec } = await pair({ files: "none" });
      const network = await provisioned({ multisite: "subdirectory" });
      const { environment } = network;
      await expect(runtime().stage({ ...spec, environment, token: "one" })).rejects.toThrow(RuntimeFailure);
      await runtime().stage({ ...spec, environment, source, files: "all", token: "one" });
      expect((await runtime().staged(environment, "one"))?.multisite).toBeNull();
    }, 120_000);
  });

  test("switchBack, unstage and prune do nothing if nothing was staged", async () => {
    const { environment } = await provisioned();
    const before = await servedAs(environment);
    for (const ref of [environment, exampleSpec().environment]) {
      await runtime().switchBack(ref, "one");
      await runtime().unstage(ref, "one");
      await runtime().prune(ref);
      expect(await runtime().staged(ref, "one")).toBeNull();
    }
    expect(await servedAs(environment)).toEqual(before);
    await expect(runtime().switchTo(environment, "one")).rejects.toThrow();
  });

  test("pruning keeps only what the current release and the previous one need", async () => {
    const { source, target, spec } = await pair({ files: "none" });
    await write(target, "first.txt", "first");
    for (const token of ["one", "two", "three"]) {
      await runtime().stage({ ...spec, token });
      await runtime().switchTo(target, token);
      await runtime().prune(target);
      await runtime().prune(target);
      expect(await read(target, "first.txt")).toBe("first");
    }
    await runtime().switchBack(target, "three");
    expect(await read(target, "first.txt")).toBe("first");
    await runtime().stage({ ...spec, files: "all", token: "four" });
    await write(source, "five.txt", "five");
    await runtime().stage({ ...spec, files: "all", token: "five" });
    await runtime().switchTo(target, "five");
    await runtime().prune(target);
    expect(await runtime().staged(target, "four")).toBeNull();
    expect(await read(target, "five.txt")).toBe("five");
    await runtime().switchBack(target, "five");
    expect(await read(target, "first.txt")).toBe("first");
  }, 120_000);
}
