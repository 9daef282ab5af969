/** Tests of what `runtime.ts` promises about copying and reading environments; part of `conformance.ts`. */
import { randomUUID } from "node:crypto";
import { mkdir, mkdtemp, readdir, readFile, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { type FileEntry, type ProvisionSpec, RuntimeFailure } from "../runtime.ts";
import type { Actions } from "./actions.ts";
import { exampleSpec } from "./conformance.ts";

export function testCopies({ runtime, provisioned, servedAs, write, read, frontPage, pair }: Actions): void {
  async function plain(): Promise<ProvisionSpec> {
    const spec = { ...exampleSpec(), wordpress: null };
    expect(await runtime().provision(spec)).toEqual({ wordpressVersion: null });
    return spec;
  }

  async function temporaryFolder(): Promise<string> {
    const folder = await mkdtemp(path.join(tmpdir(), "snapshot-"));
    onTestFinished(() => rm(folder, { recursive: true }));
    return folder;
  }

  describe("an environment without WordPress", () => {
    test("shows a page, and can be cloned and pushed like any other", async () => {
      const [source, target] = [await plain(), await plain()];
      expect(await servedAs(source.environment)).toMatchObject({ overlays: {}, multisite: null });
      expect(await frontPage(source.environment, "http://plain.localhost:8081")).toContain("</html>");
      await write(source.environment, "app.txt", "app");
      const copy = exampleSpec().environment;
      const answer = await runtime().clone({ environment: copy, source: source.environment, addresses: [] });
      expect(answer).toEqual({ wordpressVersion: null });
      expect(await read(copy, "app.txt")).toBe("app");
      const environments = { environment: target.environment, source: source.environment };
      await runtime().stage({ ...environments, token: "one", files: "all", database: "all", addresses: [] });
      await runtime().switchTo(target.environment, "one");
      expect(await read(target.environment, "app.txt")).toBe("app");
    }, 60_000);

    test("refuses the files of a WordPress without its database", async () => {
      const { source, spec } = await pair({ database: "none" });
      const { environment } = await plain();
      await expect(runtime().stage({ ...spec, environment, token: "one" })).rejects.toThrow(RuntimeFailure);
      await runtime().stage({ ...spec, environment, source, database: "all", token: "one" });
      expect(await runtime().staged(environment, "one")).not.toBeNull();
    });
  });

  test("a comparison reports all rows as lost without WordPress in the source, and none without it in the target", async () => {
    const { source, target, spec } = await pair();
    const { environment } = await plain();
    const { lost } = await runtime().compare({ ...spec, source: environment });
    expect(lost.map(({ table }) => table)).toEqual(expect.arrayContaining(["wp_options", "wp_posts"]));
    expect(lost.every(({ rows }) => rows > 0)).toBe(true);
    const numbers = lost.map(({ rows }) => rows);
    expect(numbers).toEqual(numbers.toSorted((one, other) => other - one));
    expect((await runtime().compare({ ...spec, environment, source })).lost).toEqual([]);
    expect((await runtime().compare({ ...spec, environment: target, source: target, addresses: [] })).lost).toEqual([]);
  }, 60_000);

  describe("a clone", () => {
    test("shows its source's title at its own address and is independent of the source", async () => {
      const { environment: source, wordpress } = await provisioned({ title: "Cloned garden" });
      await write(source, "before.txt", "before");
      const environment = exampleSpec().environment;
      const to = `http://clone-${environment.number}.localhost:8081`;
      const spec = { environment, source, addresses: [{ from: wordpress.address, to }] };
      const { wordpressVersion } = await runtime().clone(spec);
      expect(wordpressVersion).toBe(
        (await runtime().provision({ ...exampleSpec(), environment: source })).wordpressVersion,
      );
      await write(source, "after.txt", "after");
      await write(environment, "own.txt", "own");
      await runtime().clone(spec);
      const { lost } = await runtime().compare({ ...spec, files: "none", database: "all" });
      expect(lost).toEqual([]);
      expect(await read(environment, "before.txt")).toBe("before");
      expect(await read(environment, "after.txt")).toBeNull();
      expect(await read(environment, "own.txt")).toBe("own");
      expect(await frontPage(environment, to)).toContain("Cloned garden");
      await runtime().destroy(source);
      expect(await read(environment, "before.txt")).toBe("before");
    }, 60_000);

    test("of a snapshot has the environment's former state and secrets, at another address too", async () => {
      const { environment: source, wordpress } = await provisioned({ title: "Kept garden" });
      await write(source, "then.txt", "then");
      const folder = path.join(await temporaryFolder(), "snapshot");
      await runtime().snapshot(source, folder);
      const config = await read(source, "wp-config.php");
      await runtime().destroy(source);
      const environment = exampleSpec().environment;
      await runtime().clone({ environment, source: { folder }, addresses: [] });
      expect(await read(environment, "then.txt")).toBe("then");
      expect(await read(environment, "wp-config.php")).toBe(config);
      expect(await runtime().wordpress(environment)).toMatchObject({ title: "Kept garden" });
      const moved = exampleSpec().environment;
      const to = `http://moved-${moved.number}.localhost:8081`;
      await runtime().clone({ environment: moved, source: { folder }, addresses: [{ from: wordpress.address, to }] });
      expect(await frontPage(moved, to)).toContain("Kept garden");
    }, 60_000);

    test("of a missing environment fails and leaves nothing", async () => {
      const [environment, source] = [exampleSpec().environment, exampleSpec().environment];
      await expect(runtime().clone({ environment, source, addresses: [] })).rejects.toThrow(RuntimeFailure);
      expect(await runtime().layout(environment)).toBeNull();
    });
  });

  test("a comparison lists added, changed and removed files and changes nothing", async () => {
    const { source, target, spec } = await pair({ database: "none" });
    await write(source, "added.txt", "12345");
    await write(source, "changed.txt", "source");
    await write(target, "changed.txt", "target!");
    await write(target, "removed.txt", "1");
    const folder = path.dirname(path.dirname(path.dirname((await servedAs(target)).documentRoot)));
    const before = await readdir(folder, { recursive: true });
    const { files, lost } = await runtime().compare(spec);
    expect(files.added).toEqual({ count: 1, bytes: 5, listed: [{ path: "added.txt", bytes: 5 }] });
    expect(files.changed.listed).toContainEqual({ path: "changed.txt", bytes: 6 });
    expect(files.removed).toEqual({ count: 1, bytes: 1, listed: [{ path: "removed.txt", bytes: 1 }] });
    expect(lost).toEqual([]);
    const all = await runtime().compare({ ...spec, files: "none", database: "all" });
    expect(all.files.added.count + all.files.changed.count + all.files.removed.count).toBe(0);
    expect(await readdir(folder, { recursive: true })).toEqual(before);
  });

  test("a snapshot contains the environment's own files and its database", async () => {
    const { environment } = await provisioned();
    await write(environment, "folder/kept.txt", "kept");
    const folder = path.join(await temporaryFolder(), "deep", "snapshot");
    await runtime().snapshot(environment, folder);
    expect(await readdir(folder)).toEqual(expect.arrayContaining(["database", "public", "release.json"]));
    expect(await readFile(path.join(folder, "public", "folder", "kept.txt"), "utf8")).toBe("kept");
    expect((await readdir(path.join(folder, "database"))).length).toBeGreaterThan(0);
    await write(environment, "later.txt", "later");
    await runtime().snapshot(environment, folder);
    expect(await readdir(path.join(folder, "public"))).not.toContain("later.txt");
    const never = path.join(await temporaryFolder(), "never");
    await expect(runtime().snapshot({ id: randomUUID(), number: 0 }, never)).rejects.toThrow();
    await expect(readdir(never)).rejects.toThrow();
  });

  test("a snapshot during switches and pruning has content of one release, or fails and leaves nothing", async () => {
    const { source, target, spec } = await pair();
    const names = Array.from({ length: 100 }, (_, index) => `many/${index}.txt`);
    for (const name of names) {
      await write(source, name, "source");
      await write(target, name, "target");
    }
    const tokens = ["one", "two"];
    for (const token of tokens) await runtime().stage({ ...spec, token });
    const replace = async () => {
      for (const token of tokens) await runtime().switchTo(target, token);
      await runtime().prune(target);
    };
    const folder = path.join(await temporaryFolder(), "snapshot");
    const [answer] = await Promise.allSettled([runtime().snapshot(target, folder), replace()]);
    if (answer.status === "rejected") {
      expect(answer.reason).toBeInstanceOf(RuntimeFailure);
      expect(await readdir(path.dirname(folder))).toEqual([]);
      await runtime().snapshot(target, folder);
    }
    const files = names.map((name) => readFile(path.join(folder, "public", name), "utf8"));
    expect(new Set(await Promise.all(files)).size).toBe(1);
  }, 60_000);

  test("counting the rows of all tables gives the same for an environment and its snapshot, and leaves nothing", async () => {
    const { signal } = new AbortController();
    const { environment } = await provisioned();
    const root = path.dirname(path.dirname(path.dirname((await servedAs(environment)).documentRoot)));
    const before = await readdir(root, { recursive: true });
    const counts = await runtime().countRows(environment, signal);
    expect(counts).toMatchObject({ wp_options: expect.any(Number), wp_posts: expect.any(Number) });
    expect(counts.wp_posts).toBeGreaterThan(0);
    expect(await readdir(root, { recursive: true })).toEqual(before);
    const folder = path.join(await temporaryFolder(), "snapshot");
    await runtime().snapshot(environment, folder);
    await runtime().destroy(environment);
    expect(await runtime().countRows({ folder }, signal)).toEqual(counts);
    const copy = exampleSpec().environment;
    await runtime().clone({ environment: copy, source: { folder }, addresses: [] });
    expect(await runtime().countRows(copy, signal)).toEqual(counts);
    expect(await runtime().countRows((await plain()).environment, signal)).toEqual({});
  }, 60_000);

  test("counting rows fails for a missing environment and when it is aborted", async () => {
    const { environment } = await provisioned();
    const { signal } = new AbortController();
    await expect(runtime().countRows(exampleSpec().environment, signal)).rejects.toThrow(RuntimeFailure);
    await expect(runtime().countRows(environment, AbortSignal.abort())).rejects.toThrow("abort");
  });

  test("an export contains everything that a site needs on another host and leaves the snapshot unchanged", async () => {
    const { environment } = await provisioned();
    await write(environment, "folder/kept.txt", "kept");
    await symlink("/etc/passwd", path.join((await servedAs(environment)).documentRoot, "link"));
    const folder = await temporaryFolder();
    const [snapshot, target] = [path.join(folder, "snapshot"), path.join(folder, "deep", "export")];
    await runtime().snapshot(environment, snapshot);
    const before = await readdir(snapshot, { recursive: true });
    const wordpressVersion = (await runtime().layout(environment))?.wordpressVersion;
    const exported = await runtime().exportSite({ folder: snapshot }, target);
    expect(exported).toMatchObject({ wordpressVersion, multisite: null, notes: [] });
    expect(exported.tables).toBeGreaterThan(0);
    expect((await readdir(target)).toSorted()).toEqual(["database.sql", "public"]);
    expect(await readFile(path.join(target, "public", "folder", "kept.txt"), "utf8")).toBe("kept");
    expect(await readFile(path.join(target, "database.sql"), "utf8")).toContain("wp_options");
    for (const name of ["wp-admin", "wp-includes"])
      expect((await readdir(path.join(target, "public", name))).length).toBeGreaterThan(0);
    expect(await readdir(path.join(target, "public"))).not.toContain("link");
    expect(await readdir(snapshot, { recursive: true })).toEqual(before);
  });

  test("an export without WordPress contains its database files unchanged", async () => {
    const { environment } = await plain();
    await write(environment, "app.txt", "app");
    const folder = await temporaryFolder();
    const [snapshot, target] = [path.join(folder, "snapshot"), path.join(folder, "export")];
    await runtime().snapshot(environment, snapshot);
    const exported = await runtime().exportSite({ folder: snapshot }, target);
    const databaseKind = expect.stringMatching(/^[A-Z]/);
    expect(exported).toEqual({ wordpressVersion: null, multisite: null, databaseKind, tables: 0, notes: [] });
    expect((await readdir(target)).toSorted()).toEqual(["database", "public"]);
    expect((await readdir(path.join(target, "database"))).length).toBeGreaterThan(0);
  });

  test("the list of files is sorted and nested, and lists folders of shared code without their content", async () => {
    const { environment } = await provisioned();
    for (const name of ["zoo/b.txt", "zoo/a/deep.txt", "Above.txt"]) await write(environment, name, "x");
    await mkdir(path.join((await servedAs(environment)).documentRoot, "zoo/empty"));
    const files = await runtime().listFiles(environment);
    const find = (name: string): FileEntry | undefined => files?.find((entry) => entry.name === name);
    expect(find("Above.txt")).toEqual({ name: "Above.txt", path: "/Above.txt" });
    expect(find("zoo")).toEqual({
      name: "zoo",
      path: "/zoo",
      children: [
        { name: "a", path: "/zoo/a", children: [{ name: "deep.txt", path: "/zoo/a/deep.txt" }] },
        { name: "b.txt", path: "/zoo/b.txt" },
        { name: "empty", path: "/zoo/empty", children: [] },
      ],
    });
    for (const name of ["wp-admin", "wp-includes"])
      expect(find(name)).toEqual({ name, path: `/${name}`, children: [] });
    const names = files?.map((entry) => entry.name) ?? [];
    expect(names).toEqual(names.toSorted());
    expect(await runtime().listFiles(exampleSpec().environment)).toBeNull();
  });

  test("the settings of a WordPress are returned exactly as they were entered, for a copy too, and null without WordPress", async () => {
    const title = `Tom & "Jerry" <b>'s</b> &amp; 🦄`;
    const typed = { title, adminUser: "Ada L.", adminEmail: "ada@example.com", locale: "en_US", multisite: null };
    const { environment: source } = await provisioned(typed);
    const environment = exampleSpec().environment;
    await runtime().clone({ environment, source, addresses: [] });
    expect(await runtime().wordpress(source)).toEqual(typed);
    expect(await runtime().wordpress(environment)).toEqual(typed);
    expect(await runtime().wordpress((await plain()).environment)).toBeNull();
    expect(await runtime().wordpress(exampleSpec().environment)).toBeNull();
  }, 60_000);

  test("the disk use of an environment grows with its files", async () => {
    const { environment } = await provisioned();
    const before = await runtime().diskUse(environment);
    await write(environment, "folder/large.bin", "x".repeat(100_000));
    const after = await runtime().diskUse(environment);
    expect(after?.files).toBe((before?.files ?? 0) + 100_000);
    expect(after?.database).toBe(before?.database);
    expect(after?.database).toBeGreaterThan(0);
    expect(await runtime().freeDisk()).toBeGreaterThan(1_000_000);
    expect(await runtime().diskUse(exampleSpec().environment)).toBeNull();
  });
}
