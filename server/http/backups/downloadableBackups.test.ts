/** Downloadable backups through the HTTP API, and their links. */
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { mkdtemp, open, rm, writeFile } from "node:fs/promises";
import { get } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setImmediate as breathe } from "node:timers/promises";
import {
  finishDownloadableBackup,
  insertDownloadableBackup,
} from "@sitewright/server/store/backups/downloadableBackups.ts";
import { pino } from "pino";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Reply, startTestServer, useTestServer } from "../testing/server.ts";

const zips = new Map<string, string>();
const logged: string[] = [];

const test = useTestServer({
  log: pino({ level: "trace" }, { write: (line: string) => logged.push(line) }),
  openDownload: async (id) => {
    const file = zips.get(id);
    if (file === undefined) return null;
    const handle = await open(file, "r");
    return { handle, bytes: (await handle.stat()).size };
  },
});

const content = "0123456789".repeat(10);
let folder: string;
let site: string;
let environment: { readonly id: string; readonly liveId: string };
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "downloads-"));
  site = await test.current.addSite();
  environment = await test.current.addEnvironment(site);
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const pathOf = (id: string) => `/v2/sites/environments/${id}/downloadable-backups`;

async function add(body: unknown = {}, id = environment.id): Promise<Reply> {
  return test.current.call("POST", pathOf(id), { body });
}

async function listed(key?: string) {
  const answer = await test.current.call("GET", pathOf(environment.id), key === undefined ? {} : { key });
  return answer.body.environment.downloadable_backups;
}

/** Adds a finished downloadable backup with its zip. Returns its id. */
async function addFinished(more: { readonly expiresAt?: Date; readonly text?: string } = {}) {
  const { company, database } = test.current;
  const { expiresAt = new Date(Date.now() + 3_600_000), text = content } = more;
  const id = randomUUID();
  const owner = { companyId: company.company_id, siteId: site, environmentId: environment.id };
  const row = { id, ...owner, fileName: "demo-live-2026-11-22.zip", expiresAt };
  await database.transaction().execute((transaction) => insertDownloadableBackup(transaction, row));
  await finishDownloadableBackup(database, id, { bytes: text.length, expiresAt });
  const file = join(folder, id);
  await writeFile(file, text);
  zips.set(id, file);
  return id;
}

async function linkOf(id: string): Promise<string> {
  const found = (await listed()).find((one: { id: string }) => one.id === id);
  return found.download_link;
}

function openLink(link: string, headers: Readonly<Record<string, string>> = {}, method: "GET" | "HEAD" = "GET") {
  return test.current.call(method, new URL(link).pathname, { key: null, headers });
}

describe("a request for a downloadable backup", () => {
  it("starts an operation without locks and is listed while in progress", async () => {
    const { database, succeed } = test.current;
    const answer = await add();
    expect(answer.body).toMatchObject({ status: 202, message: "Creating a downloadable backup in progress" });
    expect(answer.body.operation_id).toMatch(/^backups:add-downloadable-/);
    expect(await database.selectFrom("environment_locks").selectAll().execute()).toEqual([]);
    const [newest] = await listed();
    expect(newest).toEqual({
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      created_at: expect.any(Number),
      download_link: null,
      expires_at: expect.any(Number),
      is_generation_in_progress: true,
    });
    expect(newest.expires_at - newest.created_at).toBeGreaterThan(71 * 3_600_000);
    const row = database.selectFrom("operations").select("input").where("id", "=", answer.body.operation_id);
    expect((await row.executeTakeFirstOrThrow()).input).toMatchObject({
      id: newest.id,
      environment: { id: environment.id },
      address: expect.stringMatching(/^http:\/\/.+\.localhost/),
      backup: null,
    });
    await succeed(answer.body.operation_id);
    await database.deleteFrom("downloadable_backups").execute();
  });

  it("needs no body", async () => {
    const { call, database, succeed } = test.current;
    const answer = await call("POST", pathOf(environment.id));
    expect(answer.status).toBe(202);
    await succeed(answer.body.operation_id);
    await database.deleteFrom("downloadable_backups").execute();
  });

  it("accepts a backup of any environment of the company", async () => {
    const { addBackup, database, succeed } = test.current;
    const answer = await add({ backup_id: await addBackup(environment.liveId, { name: "Then" }) });
    const row = database.selectFrom("operations").select("input").where("id", "=", answer.body.operation_id);
    expect((await row.executeTakeFirstOrThrow()).input).toMatchObject({ backup: { name: "Then" } });
    await succeed(answer.body.operation_id);
    await database.deleteFrom("downloadable_backups").execute();
  });

  it("gives the zip a name with the time of its content", async () => {
    const { addBackup, database, succeed } = test.current;
    const backup_id = await addBackup(environment.liveId);
    const created_at = new Date("2026-02-03T04:05:06Z");
    await database.updateTable("backups").set({ created_at }).where("id", "=", backup_id).execute();
    const names: string[] = [];
    for (const body of [{ backup_id }, {}]) {
      const answer = await add(body);
      const row = await database.selectFrom("downloadable_backups").select("file_name").executeTakeFirstOrThrow();
      names.push(row.file_name);
      await succeed(answer.body.operation_id);
      await database.deleteFrom("downloadable_backups").execute();
    }
    expect(names[0]).toMatch(/-2026-02-03-040506\.zip$/);
    expect(names[1]).toMatch(/-20\d\d-\d\d-\d\d-\d{6}\.zip$/);
  });

  it.each([
    [{ backup_id: "1" }],
    [{ backup_id: null }],
    [{ backup_id: 0 }],
    [{ backup_id: 1.5 }],
    [{ backup_id: 2 ** 31 }],
  ])("is refused with %j", async (body) => {
    const answer = await add(body);
    expect(answer.status).toBe(400);
    expect(answer.body.data.errors[0].path).toBe("/backup_id");
  });

  it("is refused for unknown and unfinished backups and those of other companies", async () => {
    const { addBackup, addSiteWithEnvironment, database, otherCompany } = test.current;
    const foreign = await addSiteWithEnvironment(otherCompany.api_key);
    const unfinished = await addBackup(environment.id);
    await database.updateTable("backups").set({ manifest: null }).where("id", "=", unfinished).execute();
    for (const backup_id of [await addBackup(foreign.id), 2_147_483_647, unfinished]) {
      const answer = await add({ backup_id });
      expect(answer.status).toBe(400);
      expect(answer.body.data).toMatchObject({ code: "unknown_backup", fields: ["backup_id"] });
    }
    expect(await listed()).toEqual([]);
  });
});

describe("a download link", () => {
  it("is in the activity log with the number of downloads by an address, as far as content was sent", async () => {
    const link = await linkOf(await addFinished());
    for (const method of ["GET", "HEAD", "GET"] as const)
      await openLink(link, { "x-forwarded-for": "203.0.113.80" }, method);
    await test.current.flushActivity();
    const { company, call } = test.current;
    const { body } = await call("GET", `/v2/company/${company.company_id}/activity-logs?site_id=${site}&limit=1`);
    expect(body.company.activity_logs.items).toMatchObject([
      {
        type: "downloadBackup",
        ip_address: "203.0.113.80",
        has_failed: false,
        descriptions: ["Download the backup “demo-live-2026-11-22.zip” (2×)"],
      },
    ]);
  });

  it("works without a key, forbids caching and display, and does not change", async () => {
    const id = await addFinished();
    const link = await linkOf(id);
    expect(link).toMatch(/^http:\/\/localhost(:\d+)?\/v2\/downloads\/[\w-]{64}\/demo-live-2026-11-22\.zip$/);
    expect(await linkOf(id)).toBe(link);
    const answer = await openLink(link);
    expect(answer).toMatchObject({ status: 200, text: content });
    expect(answer.headers).toMatchObject({
      "content-type": "application/zip",
      "content-length": "100",
      "content-disposition": 'attachment; filename="demo-live-2026-11-22.zip"',
      "cache-control": "private, no-store",
      "x-content-type-options": "nosniff",
      "referrer-policy": "no-referrer",
      "accept-ranges": "bytes",
    });
  });

  it("has the address that the client used, or no host if that is invalid", async () => {
    await addFinished();
    const baseOf = async (host: string) => {
      const answer = await test.current.call("GET", pathOf(environment.id), { headers: { host } });
      return answer.body.environment.downloadable_backups[0].download_link.replace(/downloads.*/, "");
    };
    expect(await baseOf("api.example.com:8443")).toBe("http://api.example.com:8443/v2/");
    expect(await baseOf("[::1]:8080")).toBe("http://[::1]:8080/v2/");
    expect(await baseOf("evil.example/<script>")).toBe("/v2/");
  });

  it("answers HEAD with the size of the zip", async () => {
    const answer = await openLink(await linkOf(await addFinished()), {}, "HEAD");
    expect(answer).toMatchObject({ status: 200, text: "" });
    expect(answer.headers).toMatchObject({ "content-length": "100", "accept-ranges": "bytes" });
  });

  it("resumes a download if the zip is unchanged", async () => {
    const link = await linkOf(await addFinished());
    const { etag = "" } = (await openLink(link)).headers;
    const rest = await openLink(link, { range: "bytes=97-", "if-range": String(etag) });
    expect(rest).toMatchObject({ status: 206, text: "789" });
    expect(rest.headers).toMatchObject({ "content-range": "bytes 97-99/100", "content-length": "3" });
    expect(await openLink(link, { range: "bytes=97-", "if-range": '"another"' })).toMatchObject({
      status: 200,
      text: content,
    });
    const beyondEnd = await openLink(link, { range: "bytes=100-" });
    expect(beyondEnd.body).toEqual({
      message: "The requested range starts beyond the end of the file",
      status: 416,
      data: null,
    });
    expect(beyondEnd.headers["content-range"]).toBe("bytes */100");
  });

  it("is a 404 if it has expired or is wrong, or if its zip is missing", async () => {
    const link = await linkOf(await addFinished());
    const { database } = test.current;
    const [missing, expired] = [await addFinished(), await addFinished()];
    const [missingLink, expiredLink] = [await linkOf(missing), await linkOf(expired)];
    zips.delete(missing);
    await finishDownloadableBackup(database, expired, { bytes: 100, expiresAt: new Date(Date.now() - 1) });
    const token = link.split("/").at(-2) ?? "";
    const wrong = [
      missingLink,
      expiredLink,
      link.replace("demo", "other"),
      link.replace(token, token.slice(0, -1) + (token.endsWith("A") ? "B" : "A")),
      link.replace(token, "x"),
      link.replace(token, "..%2f..%2fetc"),
      link.replace(token, encodeURIComponent("\0")),
    ];
    for (const each of wrong) {
      for (const method of ["GET", "HEAD"] as const) {
        const answer = await openLink(each, {}, method);
        expect(answer.status).toBe(404);
        if (method === "GET") expect(answer.body).toMatchObject({ status: 404, data: null });
      }
    }
    expect((await listed()).map(({ id }: { id: string }) => id)).not.toContain(expired);
    expect(zips.size).toBeGreaterThan(0);
  });

  it("supports only GET and HEAD", async () => {
    const answer = await test.current.call("POST", new URL(await linkOf(await addFinished())).pathname, { key: null });
    expect(answer.status).toBe(405);
    expect(answer.headers.allow).toBe("GET, HEAD");
  });

  it("is hidden from read-only keys", async () => {
    const id = await addFinished();
    const { token } = await test.current.addKey({ scopes: ["read"] });
    const found = (await listed(token)).find((one: { id: string }) => one.id === id);
    expect(found).toMatchObject({ download_link: null, is_generation_in_progress: false });
  });

  it("is in the operation's result, without being stored", async () => {
    const { call, company, database, operations } = test.current;
    const id = await addFinished();
    const operationId = await operations.submit({ kind: "addDownloadableBackup", companyId: company.company_id });
    const stored = { id, file_name: "demo-live-2026-11-22.zip", expires_at: 1 };
    await database
      .updateTable("operations")
      .set({ state: "succeeded", result: JSON.stringify(stored) })
      .where("id", "=", operationId)
      .execute();
    const answer = await call("GET", `/v2/operations/${operationId}`);
    expect(answer.body.data.result).toEqual({ id, download_link: await linkOf(id), expires_at: 1 });
    const { token } = await test.current.addKey({ scopes: ["read"] });
    const read = await call("GET", `/v2/operations/${operationId}`, { key: token });
    expect(read.body.data.result.download_link).toBeNull();
  });

  it("is never logged, even if the download fails", async () => {
    const id = await addFinished({ text: "x".repeat(20_000_000) });
    const link = await linkOf(id);
    const token = link.split("/").at(-2) ?? "";
    const port = await test.current.listen();
    const url = `http://127.0.0.1:${port}${new URL(link).pathname}`;
    const request = get(url, { agent: false });
    const [response] = await once(request, "response");
    await once(response, "data");
    request.destroy();
    expect((await fetch(`${url}x`)).status).toBe(404);
    zips.set(id, folder);
    expect((await fetch(url).catch(() => null))?.status ?? 500).not.toBe(404);
    await breathe();
    expect(logged.join("")).not.toContain(token);
    zips.delete(id);
  });

  it("does not delay shutdown", async () => {
    const file = join(folder, "large");
    await writeFile(file, "x".repeat(50_000_000));
    const openDownload = async () => ({ handle: await open(file, "r"), bytes: 50_000_000 });
    const other = await startTestServer({ openDownload });
    const siteId = await other.addSite();
    const { liveId } = await other.addEnvironment(siteId);
    const id = randomUUID();
    const expiresAt = new Date(Date.now() + 3_600_000);
    const row = {
      id,
      companyId: other.company.company_id,
      siteId,
      environmentId: liveId,
      fileName: "a.zip",
      expiresAt,
    };
    await other.database.transaction().execute((transaction) => insertDownloadableBackup(transaction, row));
    await finishDownloadableBackup(other.database, id, { bytes: 50_000_000, expiresAt });
    const list = await other.call("GET", pathOf(liveId));
    const { download_link: link } = list.body.environment.downloadable_backups[0];
    const request = get(`http://127.0.0.1:${await other.listen()}${new URL(link).pathname}`, { agent: false });
    const [response] = await once(request, "response");
    await once(response, "data");
    response.pause();
    const broken = once(response, "error");
    await other[Symbol.asyncDispose]();
    response.resume();
    expect(String(await broken)).toContain("aborted");
  });
});
