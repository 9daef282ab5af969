import { existsSync } from "node:fs";
import { mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createFakeRuntime } from "@sitewright/runtimes/fake/runtime.ts";
import { type Logger, pino } from "pino";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { openS3Blobs } from "./archives/s3Blobs.ts";
import { startS3Server } from "./archives/testing/s3Server.ts";
import { type Control, startControl } from "./control.ts";
import type { FirstRun } from "./firstRun.ts";
import { openEvents } from "./http/testing/events.ts";
import { startMailServer } from "./mail/testing/mailServer.ts";
import { loadConfig } from "./settings/config.ts";
import { storeMemory } from "./store/backups/archiveStore.ts";
import { createTestDatabase, type TestDatabase } from "./testing/database.ts";
import { startTestEdge, type TestEdge, visit } from "./testing/edge.ts";
import { silentLog } from "./testing/engine.ts";

let data: string;
let own: TestDatabase;
let edge: TestEdge;
let control: Control;

async function start(more: NodeJS.ProcessEnv = {}, log: Logger = silentLog): Promise<Control> {
  const config = loadConfig({
    SITEWRIGHT_DATA: data,
    SITEWRIGHT_RUN: edge.runFolder,
    SITEWRIGHT_CONTROL_PORT: "0",
    SITEWRIGHT_WPORG_URL: "none",
    SITEWRIGHT_EDGE_PORT: String(edge.edge.port),
    DATABASE_URL: own.url,
    ...more,
  });
  return startControl({ config, runtimes: { playground: createFakeRuntime({ folder: join(data, "fake") }) }, log });
}

async function firstRunFile(): Promise<FirstRun> {
  return JSON.parse(await readFile(join(data, "first-run.json"), "utf8"));
}

/** The parts of responses that these tests read. */
interface Body {
  readonly status: number;
  readonly operation_id: string;
  readonly data: { readonly idSite: string; readonly result: unknown };
  readonly site: unknown;
  readonly environment: { readonly backups: readonly unknown[] };
}

async function call(method: string, path: string, body?: object) {
  const { api_key } = await firstRunFile();
  const response = await fetch(`${control.url}/v2${path}`, {
    method,
    headers: { authorization: `Bearer ${api_key}`, ...(body && { "content-type": "application/json" }) },
    ...(body && { body: JSON.stringify(body) }),
  });
  const answer: Body = JSON.parse(await response.text());
  return { status: response.status, body: answer };
}

async function createDemo(displayName: string) {
  const { company_id } = await firstRunFile();
  return call("POST", "/sites", {
    company: company_id,
    display_name: displayName,
    region: "europe-west3",
    install_mode: "new",
    admin_email: "ada@example.com",
    admin_password: `it's a "$ecret"`,
    admin_user: "ada",
    site_title: "Ada's notes",
    wp_language: "en_US",
  });
}

beforeEach(async () => {
  data = await mkdtemp(join(tmpdir(), "swcontrol-"));
  own = await createTestDatabase();
  edge = await startTestEdge(data);
  control = await start();
});
afterEach(async () => {
  await control.stop();
  await edge[Symbol.asyncDispose]();
  await own.drop();
  await rm(data, { recursive: true });
});

describe("the control process", () => {
  test("creates the first company once, and stores its credentials in a file that only the owner can read", async () => {
    const facts = await firstRunFile();
    expect(facts).toEqual(control.firstRun);
    expect(facts.api_url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/v2$/);
    expect(facts.sites_url).toBe(`http://localhost:${edge.edge.port}`);
    expect((await stat(join(data, "first-run.json"))).mode & 0o777).toBe(0o600);
    expect((await call("GET", "/validate")).status).toBe(200);
    await control.stop();
    control = await start();
    expect(control.firstRun).toBeNull();
    expect((await firstRunFile()).api_key).toBe(facts.api_key);
  });

  test("mails a link for a lost password, also if another process has to send it", async () => {
    await using mailServer = await startMailServer();
    const settings = {
      SITEWRIGHT_SMTP_URL: `smtp://127.0.0.1:${mailServer.port}`,
      SITEWRIGHT_MAIL_FROM: "sitewright@example.com",
    };
    await control.stop();
    control = await start(settings);
    const { admin_email: email } = await firstRunFile();
    expect((await call("POST", "/password-resets", { email })).status).toBe(200);
    await control.stop();
    control = await start(settings);
    await expect
      .poll(() => mailServer.received.map(({ from, to }) => [from, ...to]))
      .toEqual([["sitewright@example.com", email]]);
    expect(mailServer.received[0]?.message.replaceAll("=\r\n", "")).toMatch(
      /http:\/\/127\.0\.0\.1:\d+\/password-reset#sr_/,
    );
  });

  test("continues streams of events after a restart, each event once", async () => {
    const { company_id, api_key } = await firstRunFile();
    const follow = (more: Readonly<Record<string, string>> = {}) =>
      openEvents(`${control.url}/v2/company/${company_id}/events`, { authorization: `Bearer ${api_key}`, ...more });
    const before = await follow();
    const created = await createDemo("Demo");
    await before.until(({ type }) => type === "operation.started");
    await control.stop();
    control = await start();
    const after = await follow({ "last-event-id": before.lastId() });
    const ended = await after.until(({ type }) => type === "operation.succeeded");
    expect(ended.data.operation_id).toBe(created.body.operation_id);
    const events = [...before.received, ...after.received];
    const ids = events.map(({ id }) => Number(id));
    expect(ids).toEqual([...new Set(ids)].toSorted((one, other) => one - other));
    const types = events.map(({ type }) => type).filter((type) => type !== "operation.progress");
    expect(types).toEqual([
      ...["activity.recorded", "operation.started", "environment.created", "site.created", "operation.succeeded"],
    ]);
  });

  test("moves all sites when a setting of their addresses has changed", async () => {
    const created = await createDemo("Demo");
    await call("GET", `/operations/${created.body.operation_id}?wait=30`);
    const port = edge.edge.port;
    expect((await visit(port, `http://demo.localhost:${port}`)).status).toBe(200);
    await control.stop();
    control = await start({ SITEWRIGHT_SITE_SUFFIX: "sites.example", SITEWRIGHT_EDGE_TLS_PORT: "9443" });
    await expect.poll(async () => (await visit(port, `http://demo.sites.example:${port}`)).status).toBe(200);
    const operations = own.database.selectFrom("operations").select(["kind", "state", "input"]).orderBy("created_at");
    await expect
      .poll(async () => (await operations.execute()).map(({ state }) => state))
      .toEqual(["succeeded", "succeeded"]);
    expect((await operations.execute())[1]).toMatchObject({
      kind: "changePrimaryDomain",
      input: { addressBefore: `http://demo.localhost:${port}`, address: `http://demo.sites.example:${port}` },
    });
    expect((await visit(port, `http://demo.localhost:${port}`)).status).toBe(404);
    await control.stop();
    control = await start({ SITEWRIGHT_SITE_SUFFIX: "sites.example", SITEWRIGHT_EDGE_TLS_PORT: "9443" });
    expect(await operations.execute()).toHaveLength(2);
  });

  test("creates an archive key at the first start, and does not replace a missing one", async () => {
    const key = join(data, "secrets", "archive-key");
    const before = await readFile(key, "utf8");
    const lines: string[] = [];
    const warnings = () => lines.filter((line) => line.includes("archive-key in the folder secrets"));
    const startAndListen = () => start({}, pino({ level: "warn" }, { write: (line) => void lines.push(line) }));
    // Until the store is recorded in the database, a start would create a new key.
    await expect.poll(async () => (await storeMemory(own.database).recall()).place).not.toBeNull();
    await control.stop();
    await rm(key);
    control = await startAndListen();
    await expect.poll(warnings).not.toEqual([]);
    expect((await call("GET", "/validate")).status).toBe(200);
    await control.stop();
    expect(existsSync(key)).toBe(false);
    await writeFile(key, before);
    lines.length = 0;
    control = await startAndListen();
    expect((await call("GET", "/validate")).status).toBe(200);
    expect(warnings()).toEqual([]);
  });

  test("keeps its archives in the configured bucket", async () => {
    const server = await startS3Server();
    const place = server.place("");
    const { host } = new URL(place.endpoint);
    const url = `s3://${place.accessKeyId}:${place.secretAccessKey}@${host}/${place.bucket}/mine?tls=off`;
    await control.stop();
    await rm(join(data, "archives"), { recursive: true, force: true });
    control = await start({ SITEWRIGHT_ARCHIVE_URL: url });
    const marks = () => openS3Blobs(server.place("mine/")).list("installations", new AbortController().signal);
    await expect.poll(async () => (await marks()).size).toBe(1);
    await control.stop();
    await server.stop();
    control = await start();
  });

  test("creates a site that visitors can open, and deletes it", async () => {
    const accepted = await createDemo("Demo");
    expect(accepted.status).toBe(202);
    const created = await call("GET", `/operations/${accepted.body.operation_id}?wait=20`);
    expect(created.body).toMatchObject({ status: 200, data: { steps_done: 4, steps_total: 4 } });
    const address = `http://demo.localhost:${edge.edge.port}`;
    expect(created.body.data.result).toEqual({ address });
    const page = await visit(edge.edge.port, address);
    expect(page).toMatchObject({ status: 200 });
    expect(page.body).toContain("notes</title>");

    const site = await call("GET", `/sites/${created.body.data.idSite}`);
    expect(site.body.site).toMatchObject({ name: "demo", status: "live" });
    const deleted = await call("DELETE", `/sites/${created.body.data.idSite}`);
    expect(deleted.status).toBe(202);
    const gone = await call("GET", `/operations/${deleted.body.operation_id}?wait=20`);
    expect(gone.body.status).toBe(200);
    expect((await visit(edge.edge.port, address)).status).toBe(404);
    expect((await call("GET", `/sites/${created.body.data.idSite}`)).status).toBe(404);
    const { rows } = await own.pool.query("select count(*)::int as n from environment_locks");
    expect(rows[0].n).toBe(0);
  });

  test("restores a deleted site with its ids and address", async () => {
    const end = async ({ operation_id }: Body) => (await call("GET", `/operations/${operation_id}?wait=20`)).body;
    const { data: created } = await end((await createDemo("Demo")).body);
    const before = (await call("GET", `/sites/${created.idSite}`)).body.site;
    await end((await call("DELETE", `/sites/${created.idSite}`)).body);
    const { company_id } = await firstRunFile();
    const list = `/company/${company_id}/deleted-sites`;
    expect((await call("GET", list)).body).toMatchObject({
      company: { deleted_sites: [{ id: created.idSite, name: "demo", environments: [{ name: "live" }] }] },
    });
    const accepted = await call("POST", `${list}/${created.idSite}/restore`);
    expect(accepted.status).toBe(202);
    expect(await end(accepted.body)).toMatchObject({ status: 200, data: { result: created.result } });
    expect((await call("GET", `/sites/${created.idSite}`)).body.site).toEqual(before);
    const page = await visit(edge.edge.port, `http://demo.localhost:${edge.edge.port}`);
    expect(page.body).toContain("notes</title>");
    expect((await call("GET", list)).body).toEqual({ company: { deleted_sites: [] } });
    expect((await call("POST", `${list}/${created.idSite}/restore`)).status).toBe(404);
  });

  test("makes test restores by itself, and shows the result", async () => {
    const accepted = await createDemo("Demo");
    await call("GET", `/operations/${accepted.body.operation_id}?wait=20`);
    const { rows } = await own.pool.query("select id from environments");
    const path = `/sites/environments/${rows[0].id}`;
    const backup = await call("POST", `${path}/manual-backups`, {});
    await call("GET", `/operations/${backup.body.operation_id}?wait=20`);
    const shown = async () => (await call("GET", `${path}/backups`)).body.environment.backups;
    expect(await shown()).toMatchObject([{ last_proven_restore: null, proof_error: null }]);
    // The reconciler runs at startup, and skips new backups.
    await own.pool.query("update backups set created_at = created_at - interval '1 hour'");
    await control.stop();
    control = await start();
    await expect
      .poll(shown, { timeout: 20_000 })
      .toMatchObject([{ last_proven_restore: expect.any(Number), proof_error: null }]);
  });

  test("publishes to an edge that has lost its table", async () => {
    const accepted = await createDemo("Demo");
    await call("GET", `/operations/${accepted.body.operation_id}?wait=20`);
    await control.stop();
    await edge[Symbol.asyncDispose]();
    await rm(join(data, "edge"), { recursive: true });
    edge = await startTestEdge(data);
    const address = `http://demo.localhost:${edge.edge.port}`;
    expect((await visit(edge.edge.port, address)).status).toBe(503);
    control = await start();
    await expect.poll(async () => (await visit(edge.edge.port, address)).status).toBe(200);
  });

  test("continues after it has lost the database", async () => {
    await own.pool.query(
      `select pg_terminate_backend(pid) from pg_locks
       where locktype = 'advisory' and database = (select oid from pg_database where datname = current_database())`,
    );
    const accepted = await createDemo("Demo");
    expect((await call("GET", `/operations/${accepted.body.operation_id}?wait=30`)).status).toBe(200);
  });

  test("names a port that is in use together with its setting", async () => {
    const port = new URL(control.url).port;
    await control.stop();
    const inUse = start({ SITEWRIGHT_CONTROL_PORT: String(edge.edge.port) });
    await expect(inUse).rejects.toThrow(
      `Port ${edge.edge.port} is in use. Choose another with SITEWRIGHT_CONTROL_PORT.`,
    );
    control = await start({ SITEWRIGHT_CONTROL_PORT: port });
    expect(new URL(control.url).port).toBe(port);
  });
});
