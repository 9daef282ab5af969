import { randomUUID } from "node:crypto";
import { beforeAll, describe, expect, it } from "vitest";
import { useTestServer } from "../testing/server.ts";

const files = { count: 1, bytes: 10, listed: [{ path: "index.php", bytes: 10 }] };
let isDamaged = false;
const test = useTestServer({
  compareBackups: async () => (isDamaged ? null : { added: files, changed: files, removed: files }),
});

let site: string;
let environment: { readonly id: string; readonly liveId: string };
beforeAll(async () => {
  site = await test.current.addSite();
  environment = await test.current.addEnvironment(site);
});

const listOf = async (id: string) => (await test.current.call("GET", `/v2/sites/environments/${id}/backups`)).body;
const restorePath = (id: string) => `/v2/sites/environments/${id}/backups/restore`;

describe("the list of backups", () => {
  it("has all finished backups, newest first", async () => {
    const { addBackup, database } = test.current;
    expect(await listOf(environment.id)).toMatchObject({ environment: { backups: [] } });
    const first = await addBackup(environment.id, { type: "scheduled", name: "Daily" });
    const second = await addBackup(environment.id, { note: "“quoted” 🌱", name: "Second" });
    const unfinished = await addBackup(environment.id);
    await database.updateTable("backups").set({ manifest: null }).where("id", "=", unfinished).execute();
    const { environment: shown } = await listOf(environment.id);
    expect(shown.display_name).toMatch(/^Staging/);
    expect(shown.backups).toEqual([
      {
        id: second,
        name: "Second",
        note: "“quoted” 🌱",
        type: "manual",
        created_at: expect.any(Number),
        verified_at: expect.any(Number),
        expires_at: expect.any(Number),
        last_proven_restore: null,
        proof_error: null,
        damage: null,
        size_bytes: 1_000,
      },
      expect.objectContaining({ id: first, type: "scheduled", note: null }),
    ]);
    await database
      .updateTable("backups")
      .set({
        last_proven_restore: new Date(1_795_190_400_000),
        proof_error: "The table wp_posts is gone.",
        damage: "It lacks a.jpg.",
      })
      .where("id", "=", first)
      .execute();
    expect((await listOf(environment.id)).environment.backups[1]).toMatchObject({
      last_proven_restore: 1_795_190_400_000,
      proof_error: "The table wp_posts is gone.",
      damage: "It lacks a.jpg.",
    });
    expect(new Date(shown.backups[0].created_at).getFullYear()).toBeGreaterThan(2025);
    expect((await listOf(environment.liveId)).environment.backups).toEqual([]);
  });

  it("has pages", async () => {
    const { addBackup, addSite, call } = test.current;
    const { site: shown } = (await call("GET", `/v2/sites/${await addSite()}`)).body;
    const path = `/v2/sites/environments/${shown.environments[0].id}/backups`;
    for (let count = 0; count < 5; count += 1) await addBackup(shown.environments[0].id);
    const read = async (query: string) => (await call("GET", path + query)).body.environment.backups;
    const all = await read("");
    expect(all).toHaveLength(5);
    expect(await read("?limit=2")).toEqual(all.slice(0, 2));
    expect(await read("?limit=2&offset=4")).toEqual(all.slice(4));
    expect(await read("?limit=0")).toEqual([]);
    expect(await read(`?limit=2&after=${all[1].id}`)).toEqual(all.slice(2, 4));
    expect(await read(`?offset=1&after=${all[1].id}`)).toEqual(all.slice(3));
    const foreign = await addBackup(environment.liveId);
    const refused = await call("GET", `${path}?after=${foreign}`);
    expect(refused.status).toBe(400);
    expect(refused.body.data).toEqual({ code: "unknown_cursor", fields: ["after"] });
    expect(refused.body.message).toMatch(/^There is no backup with the id \d+ in this list/);
    expect((await call("GET", `${path}?after=first`)).status).toBe(400);
  });

  it("is up to date, also when it is long and cached", async () => {
    const { addBackup, addEnvironment, database } = test.current;
    const { id } = await addEnvironment(site);
    for (let count = 0; count < 120; count += 1) await addBackup(id);
    const before = await listOf(id);
    expect(await listOf(id)).toEqual(before);
    const { backups } = before.environment;
    const [{ id: newest }] = backups;
    await database.updateTable("backups").set({ note: "Changed" }).where("id", "=", newest).execute();
    expect((await listOf(id)).environment.backups[0]).toMatchObject({ id: newest, note: "Changed" });
    await database.updateTable("environments").set({ display_name: "Renamed" }).where("id", "=", id).execute();
    expect((await listOf(id)).environment).toEqual({
      display_name: "Renamed",
      backups: [{ ...backups[0], note: "Changed" }, ...backups.slice(1)],
    });
  });
});

describe("a manual backup", () => {
  it.each([
    [{ tag: "Before the sale" }, "Before the sale"],
    [{ tag: "\"><script> ' $ 🌱" }, "\"><script> ' $ 🌱"],
    [{ tag: "" }, null],
    [{ tag: "   " }, null],
    [{}, null],
  ])("of %j has the note %j", async (body, note) => {
    const { call, database, succeed } = test.current;
    const answer = await call("POST", `/v2/sites/environments/${environment.id}/manual-backups`, { body });
    expect(answer.status).toBe(202);
    expect(answer.body.operation_id).toMatch(/^backups:add-manual-/);
    expect(answer.body.message).toBe("Adding a manual backup to environment in progress");
    const row = database.selectFrom("operations").select("input").where("id", "=", answer.body.operation_id);
    expect((await row.executeTakeFirstOrThrow()).input).toMatchObject({
      note,
      environment: { id: environment.id },
      address: expect.stringMatching(/^http:\/\/.+\.localhost/),
    });
    await succeed(answer.body.operation_id);
  });

  it.each([[{ tag: 1 }], [{ tag: null }], [{ tag: "x".repeat(201) }], [{ tag: "two\nlines" }], [{ tag: "\0" }]])(
    "is refused with %j",
    async (body) => {
      const answer = await test.current.call("POST", `/v2/sites/environments/${environment.id}/manual-backups`, {
        body,
      });
      expect(answer.status).toBe(400);
      expect(answer.body.data.errors[0].path).toBe("/tag");
    },
  );
});

describe("a restore", () => {
  const body = async (more: Record<string, unknown> = {}) => ({
    backup_id: await test.current.addBackup(environment.liveId),
    ...more,
  });

  it("accepts a backup of any environment of the company and locks only the target", async () => {
    const { call, database, succeed } = test.current;
    const user = await database.selectFrom("users").select("id").executeTakeFirstOrThrow();
    const restore = await body({ only: "database", notified_user_id: user.id });
    const answer = await call("POST", restorePath(environment.id), { body: restore });
    expect(answer.body).toMatchObject({ status: 202, message: "Restoring a backup to environment in progress" });
    expect(answer.body.operation_id).toMatch(/^backups:restore-/);
    const locks = await database.selectFrom("environment_locks").select("environment_id").execute();
    expect(locks).toEqual([{ environment_id: environment.id }]);
    await succeed(answer.body.operation_id);
  });

  it.each([
    ["omitted", {}, false],
    ["true", { without_backup: true }, true],
  ])("skips the backup only if without_backup is true: %s", async (_, more, withoutBackup) => {
    const { call, database, succeed } = test.current;
    const answer = await call("POST", restorePath(environment.id), { body: await body(more) });
    const row = database.selectFrom("operations").select("input").where("id", "=", answer.body.operation_id);
    expect((await row.executeTakeFirstOrThrow()).input).toMatchObject({ withoutBackup });
    await succeed(answer.body.operation_id);
  });

  it("only compares the backup with the environment in a dry run", async () => {
    const { call, database, succeed } = test.current;
    const restore = await body({ dry_run: true, only: "database" });
    const answer = await call("POST", restorePath(environment.id), { body: restore });
    expect(answer.body).toMatchObject({ message: "Comparing a backup with the environment in progress" });
    const row = database.selectFrom("operations").selectAll().where("id", "=", answer.body.operation_id);
    const { kind, input } = await row.executeTakeFirstOrThrow();
    expect(kind).toBe("compareRestore");
    expect(input).toEqual({
      backupId: restore.backup_id,
      only: "database",
      target: expect.objectContaining({ id: environment.id }),
      address: expect.stringContaining("http://staging-"),
    });
    await succeed(answer.body.operation_id);
  });

  it.each([
    ["an id that is a string", { backup_id: "1" }, "/backup_id"],
    ["an id that is null", { backup_id: null }, "/backup_id"],
    ["an id that is not whole", { backup_id: 1.5 }, "/backup_id"],
    ["an id that is too large", { backup_id: 2 ** 31 }, "/backup_id"],
    ["an unknown part", { only: "themes" }, "/only"],
    ["an empty list of files", { file_list: [] }, "/file_list"],
    ["a table that is a number", { tables: [1] }, "/tables/0"],
    ["a without_backup that is a string", { without_backup: "yes" }, "/without_backup"],
    ["a dry_run that is a string", { dry_run: "yes" }, "/dry_run"],
    ["a user id that is not a UUID", { notified_user_id: "me" }, "/notified_user_id"],
  ])("with %s is refused", async (_, more, path) => {
    const answer = await test.current.call("POST", restorePath(environment.id), { body: await body(more) });
    expect(answer.status).toBe(400);
    expect(answer.body.data.errors.map((error: { path: string }) => error.path)).toEqual([path]);
  });

  it.each([
    [{ file_list: ["wp-content/a"] }, { files: ["wp-content/a"], database: "none" }],
    [{ tables: ["wp_posts"] }, { files: "none", database: ["wp_posts"] }],
    [
      { file_list: ["a"], tables: ["wp_posts"] },
      { files: ["a"], database: ["wp_posts"] },
    ],
  ])("of single files and tables passes them to the operation: %o", async (more, some) => {
    const { call, database, succeed } = test.current;
    const answer = await call("POST", restorePath(environment.id), { body: await body(more) });
    const row = database.selectFrom("operations").select("input").where("id", "=", answer.body.operation_id);
    expect((await row.executeTakeFirstOrThrow()).input).toMatchObject({ only: null, some });
    await succeed(answer.body.operation_id);
  });

  it.each([
    ["parts_contradict", { only: "files", tables: ["wp_posts"] }],
    ["file_outside_root", { file_list: ["../wp-config.php"] }],
  ])("is refused with %s", async (code, more) => {
    const answer = await test.current.call("POST", restorePath(environment.id), { body: await body(more) });
    expect(answer.body.data).toMatchObject({ code });
  });

  it("says which field is missing", async () => {
    const answer = await test.current.call("POST", restorePath(environment.id), { body: {} });
    expect(answer.body.data.errors.map((error: { path: string }) => error.path)).toEqual(["/backup_id"]);
  });

  it("refuses backups of other companies, unknown and unfinished backups, and unknown users", async () => {
    const { addBackup, addSiteWithEnvironment, call, database, otherCompany } = test.current;
    const foreign = await addSiteWithEnvironment(otherCompany.api_key);
    const unfinished = await addBackup(environment.id);
    await database.updateTable("backups").set({ manifest: null }).where("id", "=", unfinished).execute();
    for (const backup_id of [await addBackup(foreign.id), 2_147_483_647, unfinished]) {
      const answer = await call("POST", restorePath(environment.id), { body: { backup_id } });
      expect(answer.status).toBe(400);
      expect(answer.body.data).toMatchObject({ code: "unknown_backup", fields: ["backup_id"] });
    }
    const stranger = await call("POST", restorePath(environment.id), {
      body: await body({ notified_user_id: randomUUID() }),
    });
    expect(stranger.body.data).toMatchObject({ code: "unknown_user" });
  });

  it("of another site's backup needs a key with access to both sites", async () => {
    const { addBackup, addKey, addSiteWithEnvironment, call, succeed } = test.current;
    const other = await addSiteWithEnvironment();
    const backup_id = await addBackup(other.id);
    const { token } = await addKey({ scopes: [`site:${site}`] });
    const answer = await call("POST", restorePath(environment.id), { body: { backup_id }, key: token });
    expect(answer.body.data).toMatchObject({ code: "unknown_backup" });
    const allowed = await call("POST", restorePath(environment.id), { body: { backup_id } });
    expect(allowed.status).toBe(202);
    await succeed(allowed.body.operation_id);
  });

  it("to the live environment is forbidden for non-live keys", async () => {
    const { token } = await test.current.addKey({ scopes: ["write", "non-live"] });
    const answer = await test.current.call("POST", restorePath(environment.liveId), { body: await body(), key: token });
    expect(answer.status).toBe(403);
  });
});

describe("deleting a backup", () => {
  it("starts an operation; a deleted backup is a 404", async () => {
    const { addBackup, call, database, succeed } = test.current;
    const id = await addBackup(environment.id);
    const path = `/v2/sites/environments/backups/${id}`;
    const answer = await call("DELETE", path);
    expect(answer.body).toMatchObject({
      status: 202,
      message: "Removing a backup in progress. Use the operation_id to check the status.",
    });
    expect(answer.body.operation_id).toMatch(/^backups:remove-/);
    await succeed(answer.body.operation_id);
    await database.deleteFrom("backups").where("id", "=", id).execute();
    expect((await call("DELETE", path)).status).toBe(404);
  });
});

describe("the comparison of two backups", () => {
  const compare = (later: number, earlier: unknown) =>
    test.current.call("GET", `/v2/sites/environments/backups/${later}/comparison?with=${earlier}`);

  it("lists the files that differ, and the tables with another number of rows", async () => {
    const { addBackup, database } = test.current;
    const [earlier, later] = [await addBackup(environment.id), await addBackup(environment.liveId)];
    const setCounts = (id: number, counts: Record<string, number>) =>
      database
        .updateTable("backups")
        .set({ row_counts: JSON.stringify(counts) })
        .where("id", "=", id)
        .execute();
    expect((await compare(later, earlier)).body.comparison).toEqual({
      files: { added: files, changed: files, removed: files },
      tables: null,
    });
    await setCounts(earlier, { wp_posts: 5, wp_users: 1, wp_old: 2 });
    await setCounts(later, { wp_posts: 7, wp_users: 1, wp_new: 0 });
    expect((await compare(later, earlier)).body.comparison.tables).toEqual([
      { table: "wp_new", before: null, after: 0 },
      { table: "wp_old", before: 2, after: null },
      { table: "wp_posts", before: 5, after: 7 },
    ]);
  });

  it("refuses unknown backups, those of other companies, and damaged ones", async () => {
    const { addBackup, addSiteWithEnvironment, otherCompany } = test.current;
    const own = await addBackup(environment.id);
    const foreign = await addBackup((await addSiteWithEnvironment(otherCompany.api_key)).id);
    for (const unknown of [foreign, 2_147_483_647]) {
      expect((await compare(own, unknown)).body.data).toMatchObject({ code: "unknown_backup", fields: ["with"] });
      expect((await compare(unknown, own)).status).toBe(404);
    }
    expect((await compare(own, "x")).body.data.errors).toMatchObject([{ path: "/with" }]);
    isDamaged = true;
    expect((await compare(own, own)).body.data).toMatchObject({ code: "backup_damaged" });
    isDamaged = false;
  });
});
