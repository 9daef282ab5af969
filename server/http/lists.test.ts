/** Lists of more than one page. */
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { text } from "node:stream/consumers";
import { addManySites } from "@sitewright/server/store/testing/manySites.ts";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { startTestServer, type TestServer, useTestServer } from "./testing/server.ts";

const test = useTestServer();
/** Three pages of sites. */
const sites = 250;

interface Identified {
  readonly id: string;
}

async function addSites(server: TestServer, more: { readonly count?: number; readonly displayName?: string } = {}) {
  await addManySites(server.pool, { companyId: server.company.company_id, count: sites, ...more });
}

/** A server of its own whose company has many sites. */
async function serverWith(
  more: { readonly count?: number; readonly displayName?: string },
  options: Parameters<typeof startTestServer>[0] = {},
) {
  const own = await startTestServer(options);
  let isStopped = false;
  const stop = async () => {
    if (!isStopped) await own[Symbol.asyncDispose]();
    isStopped = true;
  };
  onTestFinished(stop);
  await addSites(own, more);
  return { own, stop };
}

/** Requests the list of sites on a socket, and stops reading after the first bytes. */
async function readBeginning({
  company,
  listen,
  server,
}: TestServer): Promise<{ client: Socket; closed: Promise<unknown> }> {
  const accepted = once(server.server, "connection");
  const client = connect({ port: await listen(), host: "127.0.0.1" }).on("error", () => undefined);
  onTestFinished(() => void client.destroy());
  const [connection] = await accepted;
  // `once` of Node would fail if the client resets the connection.
  const closed = new Promise((resolve) => connection.once("close", resolve));
  client.write(
    `GET /v2/sites HTTP/1.1\r\nHost: x\r\nConnection: close\r\nAuthorization: Bearer ${company.api_key}\r\n\r\n`,
  );
  await once(client, "readable");
  return { client, closed };
}

/** 20 pages of 1 MB: more than the buffers of a connection hold. */
const large = { count: 2_000, displayName: "x".repeat(10_000) };

const idsOf = (items: readonly Identified[]) => items.map(({ id }) => id);

describe("a long list", () => {
  it("has all items in order, in the text that they have in short lists", async () => {
    const { call, database } = test.current;
    await addSites(test.current);
    await database
      .updateTable("sites")
      .set({ display_name: '"Quotes", \\ <b>, ünï, 😀, \u2028 and \u0007' })
      .where("id", "=", (select) => select.selectFrom("sites").select("id").orderBy("created_at").offset(120).limit(1))
      .execute();
    const { text: whole, body, headers } = await call("GET", "/v2/sites");
    expect(headers["content-length"]).toBeUndefined();
    expect(headers["content-type"]).toBe("application/json; charset=utf-8");
    expect(body.company.sites.length).toBeGreaterThanOrEqual(sites);
    const parts: string[] = [];
    for (let offset = 0; offset < body.company.sites.length; offset += 50) {
      const short = await call("GET", `/v2/sites?limit=50&offset=${offset}`);
      expect(short.headers["content-length"]).toBe(String(Buffer.byteLength(short.text)));
      parts.push(short.text.slice('{"company":{"sites":['.length, -"]}}".length));
    }
    expect(whole).toBe(`{"company":{"sites":[${parts.join(",")}]}}`);
    expect(whole).toContain("😀");
    const created = await database.selectFrom("sites").select("id").orderBy("created_at").orderBy("id").execute();
    expect(idsOf(body.company.sites)).toEqual(idsOf(created.filter(({ id }) => whole.includes(id))));
  });

  it("can end exactly with a page", async () => {
    const { own } = await serverWith({ count: 200 });
    expect((await own.call("GET", "/v2/sites")).body.company.sites).toHaveLength(200);
    expect((await own.call("GET", "/v2/sites?limit=200")).body.company.sites).toHaveLength(200);
  });

  it("obeys filters, the limit and the offset on all of its pages", async () => {
    const { call, company, otherCompany, pool } = test.current;
    await addSites(test.current, { displayName: "Filtered" });
    await addManySites(pool, { companyId: otherCompany.company_id, count: sites, displayName: "Filtered" });
    const all = (await call("GET", "/v2/sites?search=filtered")).body.company.sites;
    expect(all).toHaveLength(sites);
    expect(company.company_id).not.toBe(otherCompany.company_id);
    const some = (await call("GET", "/v2/sites?search=filtered&limit=150&offset=60")).body.company.sites;
    expect(some).toEqual(all.slice(60, 210));
    const brief = (await call("GET", "/v2/sites?search=filtered&include_environments=false")).body.company.sites;
    expect(brief).toEqual(all.map(({ environments: _, ...site }: { environments: unknown }) => site));
  });

  it("of domains has all of them in order", async () => {
    const { own } = await serverWith({ count: 900 });
    const { body, headers } = await own.call("GET", "/v2/domains");
    expect(headers["content-length"]).toBeUndefined();
    const rows = await own.database
      .selectFrom("domains")
      .select(["id", "name", "site_id", "is_active"])
      .orderBy("created_at")
      .orderBy((by) => by.fn("length", ["name"]))
      .orderBy("id")
      .execute();
    expect(body.company.domains).toEqual(rows);
  });

  it("answers HEAD without reading the other pages", async () => {
    const { own } = await serverWith({});
    const query = vi.spyOn(own.pool, "query");
    const head = await own.call("HEAD", "/v2/sites");
    expect(head).toMatchObject({ status: 200, text: "" });
    expect(pagesRead(query)).toBe(1);
    expect(head.headers.etag).toBe((await own.call("GET", "/v2/sites")).headers.etag);
  });
});

function pagesRead(query: { readonly mock: { readonly calls: readonly (readonly unknown[])[] } }): number {
  const isPage = (statement: unknown) =>
    typeof statement === "object" && statement !== null && "name" in statement && statement.name === "list-sites";
  return query.mock.calls.filter(([statement]) => isPage(statement)).length;
}

describe("the parameter after", () => {
  it.each(["sites", "domains"])("continues the list of %s", async (what) => {
    const { own } = await serverWith({ count: 120 });
    const whole: readonly Identified[] = (await own.call("GET", `/v2/${what}`)).body.company[what];
    const read: Identified[] = [];
    for (let after = ""; ; after = `&after=${read.at(-1)?.id}`) {
      const page: readonly Identified[] = (await own.call("GET", `/v2/${what}?limit=50${after}`)).body.company[what];
      read.push(...page);
      if (page.length < 50) break;
    }
    expect(read).toEqual(whole);
    const skipped = await own.call("GET", `/v2/${what}?limit=2&offset=1&after=${whole[9]?.id.toUpperCase()}`);
    expect(skipped.body.company[what]).toEqual(whole.slice(11, 13));
  });

  it("skips and repeats nothing if items are added and removed meanwhile", async () => {
    const { own } = await serverWith({ count: 20 });
    const ids = idsOf((await own.call("GET", "/v2/sites")).body.company.sites);
    await own.database.deleteFrom("sites").where("id", "in", ids.slice(0, 5)).execute();
    const rest = idsOf((await own.call("GET", `/v2/sites?after=${ids[9]}`)).body.company.sites);
    expect(rest).toEqual(ids.slice(10));
  });

  it.each(["sites", "domains"])("of %s is refused unless it is in the list", async (what) => {
    const { addKey, addSite, call, otherCompany } = test.current;
    const firstOf = async (key: string) => (await call("GET", `/v2/${what}?limit=1`, { key })).body.company[what][0].id;
    await addSite({}, otherCompany.api_key);
    const { token } = await addKey({ scopes: [`site:${await addSite()}`] });
    const own = await firstOf(token);
    const foreign = await firstOf(otherCompany.api_key);
    for (const [id, key] of [[randomUUID()], [foreign], [await firstOf(test.current.company.api_key), token]]) {
      const answer = await call("GET", `/v2/${what}?after=${id}`, key === undefined ? {} : { key });
      expect(answer.status).toBe(400);
      expect(answer.body.data).toEqual({ code: "unknown_cursor", fields: ["after"] });
      expect(answer.body.message).toMatch(
        /^There is no \w+ with the id .* leave out after to start from the beginning\.$/,
      );
    }
    expect((await call("GET", `/v2/${what}?after=${own}`, { key: token })).status).toBe(200);
    const malformed = await call("GET", `/v2/${what}?after=last`);
    expect(malformed.status).toBe(400);
    expect(malformed.body.data.errors).toEqual([{ path: "/after", message: "must be a UUID" }]);
  });
});

describe("the entity tag of a long list", () => {
  const tagOf = async ({ call }: TestServer, path = "/v2/sites", key?: string) =>
    String((await call("GET", path, key === undefined ? {} : { key })).headers.etag);

  it("is answered with 304 as long as nothing has changed, without reading the list", async () => {
    const { own } = await serverWith({});
    const tag = await tagOf(own);
    const query = vi.spyOn(own.pool, "query");
    const answer = await own.call("GET", "/v2/sites", { headers: { "if-none-match": `"other", W/${tag}` } });
    expect(answer).toMatchObject({
      status: 304,
      text: "",
      headers: { etag: tag, "cache-control": "private, no-cache" },
    });
    expect(pagesRead(query)).toBe(0);
  });

  it("changes with the list, even if the change is undone", async () => {
    const { own } = await serverWith({});
    const rename = (name: string) => own.database.updateTable("environments").set({ display_name: name });
    const tags = [await tagOf(own)];
    await rename("Renamed").where("name", "=", "staging").execute();
    tags.push(await tagOf(own));
    await rename("Staging").where("name", "=", "staging").execute();
    tags.push(await tagOf(own));
    expect(new Set(tags).size).toBe(3);
    const answer = await own.call("GET", "/v2/sites", { headers: { "if-none-match": tags[0] ?? "" } });
    expect(answer.status).toBe(200);
  });

  it("differs for other parameters and for keys with other sites", async () => {
    const { own } = await serverWith({});
    const [{ id }] = (await own.call("GET", "/v2/sites?limit=1")).body.company.sites;
    const { token } = await own.addKey({ scopes: [`site:${id}`] });
    const tags = [await tagOf(own), await tagOf(own, "/v2/sites?limit=3"), await tagOf(own, "/v2/sites", token)];
    tags.push(await tagOf(own, "/v2/domains"));
    expect(new Set(tags).size).toBe(4);
  });
});

describe("a client", () => {
  it("that reads slowly gets the whole list, and holds neither a database connection nor the rest of the list", async () => {
    const { own } = await serverWith(large);
    const query = vi.spyOn(own.pool, "query");
    const { client } = await readBeginning(own);
    await expect.poll(() => own.pool.totalCount - own.pool.idleCount).toBe(0);
    const { rows } = await own.pool.query(
      "select count(*)::int as open from pg_stat_activity where datname = current_database() and xact_start is not null and pid <> pg_backend_pid()",
    );
    expect(rows).toEqual([{ open: 0 }]);
    expect(pagesRead(query)).toBeLessThan(20);
    expect((await text(client)).match(/"siteLabels":\[\]/g)).toHaveLength(large.count);
    expect(pagesRead(query)).toBeLessThanOrEqual(21);
  });

  it("that takes too long over a page is disconnected", async () => {
    const { own } = await serverWith(large, { limits: { pageSeconds: 0.1 } });
    const { closed } = await readBeginning(own);
    await closed;
  });

  it("that disconnects gives the company's turn back", async () => {
    const { own } = await serverWith(large);
    const { client, closed } = await readBeginning(own);
    client.destroy();
    await closed;
    const end = await own.exports.take(own.company.company_id);
    end();
  });

  it("does not keep the server from stopping", async () => {
    const { own, stop } = await serverWith(large);
    await readBeginning(own);
    await stop();
  });

  it("is disconnected, rather than sent a valid list, if a page can't be read", async () => {
    const { own } = await serverWith(large);
    const real = own.pool.query.bind(own.pool);
    const query = vi.spyOn(own.pool, "query");
    query.mockImplementation((...parameters: unknown[]) => {
      if (pagesRead(query) > 3) return Promise.reject(new Error("The connection was lost"));
      return Reflect.apply(real, own.pool, parameters);
    });
    const { client, closed } = await readBeginning(own);
    const received = text(client).catch(() => "");
    await closed;
    expect(await received).not.toContain("]}}");
  });
});

describe("long lists", () => {
  it("are read when it is the company's turn, which takes nothing from other companies", async () => {
    const { own } = await serverWith({});
    await addManySites(own.pool, { companyId: own.otherCompany.company_id, count: sites });
    const end = await own.exports.take(own.company.company_id);
    const waiting = own.call("GET", "/v2/sites");
    const other = await own.call("GET", "/v2/sites", { key: own.otherCompany.api_key });
    expect(other.body.company.sites).toHaveLength(sites);
    end();
    expect((await waiting).body.company.sites).toHaveLength(sites);
  });
});
