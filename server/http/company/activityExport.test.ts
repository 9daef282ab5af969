/** The export of the activity log. */

import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { hashOf, origin } from "@sitewright/server/audit/chain.ts";
import { sealActivity } from "@sitewright/server/audit/seal.ts";
import { sql } from "kysely";
import { describe, expect, it, onTestFinished } from "vitest";
import { siteFields, startTestServer, useTestServer } from "../testing/server.ts";

const test = useTestServer();

async function exported(query = "", key?: string) {
  const { call, company } = test.current;
  const path = `/v2/company/${company.company_id}/activity-logs/export${query}`;
  return call("GET", path, key === undefined ? {} : { key });
}

const linesOf = (text: string) =>
  text
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line));

async function insertEntries(count: number, type: string) {
  const { company, database } = test.current;
  const entry = { company_id: company.company_id, category: "billing", type, parameters: "{}", is_done: true };
  await database
    .insertInto("activity")
    .values(Array.from({ length: count }, () => entry))
    .execute();
}

describe("the exported activity log", () => {
  it("has every entry once, oldest first, with seals that can be verified with nothing else", async () => {
    const { addSite, database } = test.current;
    await addSite({ display_name: "Exported" });
    await insertEntries(1_200, "bulk");
    const data = await mkdtemp(join(tmpdir(), "sitewright-export-"));
    onTestFinished(() => rm(data, { recursive: true }));
    await sealActivity({ database, data });
    const answer = await exported();
    expect(answer.headers).toMatchObject({
      "content-type": "application/x-ndjson; charset=utf-8",
      "content-disposition": 'attachment; filename="activity.jsonl"',
    });
    const lines = linesOf(answer.text);
    expect(lines.filter(({ type }) => type === "bulk")).toHaveLength(1_200);
    expect(lines.map(({ id }) => id)).toEqual(lines.map(({ id }) => id).toSorted((one, other) => one - other));
    expect(lines[0]).toMatchObject({ type: "addSite", description: "Add the site “Exported”" });
    const seals = lines.flatMap(({ seals: own, ...entry }) => own.map((seal: object) => ({ ...seal, entry })));
    let previous = origin.hash;
    for (const { hash, entry, ...seal } of seals.toSorted((one, other) => one.sequence - other.sequence)) {
      const row = { ...entry, created_at: new Date(entry.created_at) };
      expect(hashOf(previous, { ...seal, sealed_at: new Date(seal.sealed_at) }, row).toString("hex")).toBe(hash);
      previous = hash;
    }
  });

  it("is limited to a period", async () => {
    const now = new Date();
    expect(linesOf((await exported(`?to=${now.toISOString()}`)).text).length).toBeGreaterThan(0);
    expect((await exported("?from=2100-01-01T00:00:00Z")).text).toBe("");
    expect((await exported("?from=yesterday")).status).toBe(400);
  });

  it("is limited to a category", async () => {
    const { addSite } = test.current;
    await addSite({ display_name: "Of a category" });
    await insertEntries(1, "of billing");
    const categories = async (query: string) =>
      new Set(linesOf((await exported(query)).text).map(({ category }) => category));
    expect((await categories("")).size).toBeGreaterThan(1);
    for (const category of ["billing", "siteActions"])
      expect(await categories(`?category=${category}`)).toEqual(new Set([category]));
    expect((await exported("?category=unknown")).status).toBe(400);
  });

  it("of a period has the entries of long transactions, whose ids are out of order", async () => {
    const { company, database } = test.current;
    const minutes = [-60, 1, -5, 2, 60];
    for (const [at, offset] of minutes.entries()) {
      await sql`insert into activity (company_id, category, type, is_done, created_at) values
        (${company.company_id}, 'billing', ${`entry ${at}`}, true, '2020-01-02'::timestamptz + ${offset} * interval '1 minute')
      `.execute(database);
    }
    const { text } = await exported("?from=2020-01-02T00:00:00Z&to=2020-01-02T00:10:00Z");
    expect(linesOf(text).map(({ type }) => type)).toEqual(["entry 1", "entry 3"]);
  });

  it("is read when it is the company's turn, which takes nothing from other companies", async () => {
    const { call, company, exports, otherCompany } = test.current;
    const ended: string[] = [];
    const end = await exports.take(company.company_id);
    const own = exported().then(() => ended.push("own"));
    const path = `/v2/company/${otherCompany.company_id}/activity-logs/export`;
    for (let time = 0; time < 3; time += 1) await call("GET", path, { key: otherCompany.api_key });
    ended.push("others");
    end();
    await own;
    expect(ended).toEqual(["others", "own"]);
  });

  it("does not keep the server from stopping if a client reads it slowly", async () => {
    const own = await startTestServer();
    const { company_id, api_key } = own.company;
    // More than the buffers of a connection hold.
    await sql`insert into activity (company_id, category, type, is_done, parameters)
      select ${company_id}, 'billing', 'bulk', true, jsonb_build_object('text', repeat('x', 60000))
      from generate_series(1, 600)`.execute(own.database);
    const socket = connect({ port: await own.listen(), host: "127.0.0.1" }).on("error", () => undefined);
    onTestFinished(() => void socket.destroy());
    const path = `/v2/company/${company_id}/activity-logs/export`;
    socket.write(`GET ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${api_key}\r\n\r\n`);
    await once(socket, "data");
    socket.pause();
    await own[Symbol.asyncDispose]();
  });

  it("as CSV contains no formulas", async () => {
    const { call, company } = test.current;
    await call("POST", `/v2/company/${company.company_id}/api-keys`, { body: { name: "=HYPERLINK(1)" } });
    const { database } = test.current;
    await database.updateTable("activity").set({ public_error: "=1+1" }).where("type", "=", "createApiKey").execute();
    const { headers, text } = await exported("?format=csv");
    expect(headers["content-type"]).toBe("text/csv; charset=utf-8");
    expect(text).toMatch(/^id,created_at,company_id,/);
    expect(text).toContain(",'=1+1,");
    expect(text).not.toContain(",=1+1");
  });

  it("shows a key that is limited to sites only those, and never another company's entries", async () => {
    const { addKey, addSite, call, otherCompany } = test.current;
    const [own, other] = [await addSite(), await addSite()];
    await call("POST", "/v2/sites", { body: siteFields(otherCompany.company_id), key: otherCompany.api_key });
    const { token } = await addKey({ scopes: [`site:${own}`] });
    const limited = linesOf((await exported("", token)).text);
    expect(limited.map(({ site_id }) => site_id)).toEqual([own]);
    const all = linesOf((await exported()).text);
    expect(all.map(({ site_id }) => site_id)).toContain(other);
    expect(new Set(all.map(({ company_id }) => company_id))).toEqual(new Set([test.current.company.company_id]));
  });

  it("becomes an entry itself", async () => {
    await exported();
    await test.current.flushActivity();
    const entry = await test.current.database
      .selectFrom("activity")
      .select(["ip_address", "is_done", "has_failed"])
      .where("type", "=", "exportActivity")
      .where("api_key_name", "=", "First key")
      .executeTakeFirst();
    expect(entry).toEqual({ ip_address: "127.0.0.1", is_done: true, has_failed: false });
  });
});
