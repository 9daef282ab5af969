/** Following the events of a company. */
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { removeOldEvents } from "@sitewright/server/store/company/events.ts";
import { sql } from "kysely";
import { beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { type EventReader, openEvents } from "../testing/events.ts";
import { peopleOf } from "../testing/people.ts";
import { startTestServer, useTestServer } from "../testing/server.ts";

const test = useTestServer();
const people = peopleOf(test);
let origin: string;

beforeAll(async () => {
  origin = `http://127.0.0.1:${await test.current.listen()}`;
});

interface Following {
  /** Default: the key of the company. */
  readonly key?: string;
  readonly query?: string;
  readonly after?: string;
  readonly cookie?: string;
}

function follow({ key, query = "", after, cookie }: Following = {}): Promise<EventReader> {
  const { company } = test.current;
  return openEvents(`${origin}/v2/company/${company.company_id}/events${query}`, {
    ...(cookie === undefined ? { authorization: `Bearer ${key ?? company.api_key}` } : { cookie }),
    ...(after !== undefined && { "last-event-id": after }),
  });
}

const isAbout = (siteId: string) => (event: EventReader["received"][number]) =>
  event.type === "site.created" && event.data.site_id === siteId;

const idsOf = ({ received }: EventReader) => received.map(({ id }) => Number(id));

/** Adds an event of the company to a transaction. */
const addEvent = (name: string, bytes = 0) =>
  sql`select add_event(${test.current.company.company_id}::uuid, ${name}, null,
    jsonb_build_object('text', repeat('x', ${bytes}::int)))`;

describe("a stream of events", () => {
  it("has what happens from now on, in order, with increasing ids", async () => {
    const { addSite, call, fail } = test.current;
    await addSite();
    const stream = await follow();
    expect(stream.status).toBe(200);
    expect(stream.headers.get("content-type")).toBe("text/event-stream; charset=utf-8");
    expect(stream.headers.get("cache-control")).toBe("private, no-store");
    const siteId = await addSite({ display_name: "Followed" });
    const { data } = await stream.until(({ type }) => type === "operation.succeeded");
    expect(data).toMatchObject({ kind: "addSite", state: "succeeded", idSite: siteId, message: null });
    expect(data.finished_at).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    const listed = await call("GET", `/v2/operations?site_id=${siteId}`);
    expect(listed.body.company.operations.items[0]).toEqual(data);
    const expected = ["activity.recorded", "operation.started", "site.created", "environment.created"];
    expect(stream.received.map(({ type }) => type)).toEqual([...expected, "operation.succeeded"]);
    expect(stream.received[2]?.data).toMatchObject({ site_id: siteId, display_name: "Followed" });
    expect(idsOf(stream)).toEqual([...new Set(idsOf(stream))].toSorted((one, other) => one - other));
    const { body } = await call("POST", "/v2/sites/tools/restart-php", {
      body: { environment_id: stream.received[3]?.data.environment_id },
    });
    await fail(body.operation_id, "PHP did not restart.");
    const failed = await stream.until(({ type }) => type === "operation.failed");
    expect(failed.data).toMatchObject({ operation_id: body.operation_id, message: "PHP did not restart." });
  });

  it("continues after the client's last event, without a gap or a repetition", async () => {
    const { addSite } = test.current;
    const [whole, first] = [await follow(), await follow()];
    const one = await addSite();
    await first.until(isAbout(one));
    first.close();
    const two = await addSite();
    const second = await follow({ after: first.lastId() });
    await second.until(isAbout(two));
    // As a browser, which repeats the address with its first query.
    const last = await follow({ query: `?last_event_id=${first.lastId()}`, after: second.lastId() });
    const byQuery = await follow({ query: `?last_event_id=${second.lastId()}` });
    const three = await addSite();
    for (const stream of [whole, last, byQuery]) await stream.until(isAbout(three));
    expect([first, second, last].flatMap(idsOf)).toEqual(idsOf(whole));
    expect(idsOf(byQuery)).toEqual(idsOf(last));
  });

  it("has the events of a transaction that commits after later ones", async () => {
    const { database } = test.current;
    const stream = await follow();
    const names = [`early.${randomUUID()}`, `late.${randomUUID()}`];
    await database.transaction().execute(async (slow) => {
      await addEvent(`${names[0]}`).execute(slow);
      await addEvent(`${names[1]}`).execute(database);
      await stream.until(({ type }) => type === names[1]);
    });
    await stream.until(({ type }) => type === names[0]);
    expect(stream.received.map(({ type }) => type).slice(-2)).toEqual(names.toReversed());
    expect(idsOf(stream)).toEqual(idsOf(stream).toSorted((one, other) => one - other));
  });

  it("has nothing of a transaction that is rolled back", async () => {
    const { addSite, database } = test.current;
    const stream = await follow();
    const failing = database.transaction().execute(async (transaction) => {
      await addEvent("never").execute(transaction);
      throw new Error("rolled back");
    });
    await expect(failing).rejects.toThrow("rolled back");
    await stream.until(isAbout(await addSite()));
    expect(stream.received.map(({ type }) => type)).not.toContain("never");
  });

  it("tells a client to read everything again if its last event is too old or unknown", async () => {
    const { addSite, database } = test.current;
    const before = await follow();
    await addSite();
    await before.until(({ type }) => type === "operation.succeeded");
    await sql`update events set created_at = now() - interval '25 hours'`.execute(database);
    await removeOldEvents(database, 24);
    const newest = before.lastId();
    const unknown = ["1", "9".repeat(15), "x", "-1"];
    const streams = await Promise.all(unknown.map((after) => follow({ after })));
    const unbroken = await follow({ after: newest });
    const siteId = await addSite();
    for (const stream of streams) {
      await stream.until(isAbout(siteId));
      expect(stream.received.map(({ type }) => type).slice(0, 2)).toEqual(["reset", "activity.recorded"]);
    }
    await unbroken.until(isAbout(siteId));
    expect(unbroken.received[0]?.type).toBe("activity.recorded");
  });

  it("ends after the events that there are, if asked", async () => {
    const start = await follow({ query: "?follow=false" });
    await start.end();
    expect(start.received).toEqual([]);
    const siteId = await test.current.addSite();
    const next = await follow({ after: start.lastId(), query: "?follow=false" });
    await next.end();
    expect(next.received.filter(isAbout(siteId))).toHaveLength(1);
  });

  it("says where to continue although there were only other companies' events", async () => {
    const start = await follow({ query: "?follow=false" });
    await start.end();
    await test.current.addSite({ company: test.current.otherCompany.company_id }, test.current.otherCompany.api_key);
    const next = await follow({ after: start.lastId(), query: "?follow=false" });
    await next.end();
    expect(next.received).toEqual([]);
    expect(Number(next.lastId())).toBeGreaterThan(Number(start.lastId()));
  });
});

describe("what a stream shows", () => {
  it("is never another company's", async () => {
    const { addSite, company, otherCompany } = test.current;
    const own = await follow();
    const path = `${origin}/v2/company/${otherCompany.company_id}/events`;
    const other = await openEvents(path, { authorization: `Bearer ${otherCompany.api_key}` });
    const [ours, theirs] = [await addSite(), await addSite({ company: otherCompany.company_id }, otherCompany.api_key)];
    await own.until(isAbout(ours));
    await other.until(isAbout(theirs));
    const sitesOf = ({ received }: EventReader) =>
      received.filter(({ type }) => type === "site.created").map(({ data }) => data.site_id);
    expect([sitesOf(own), sitesOf(other)]).toEqual([[ours], [theirs]]);
    expect((await openEvents(path, { authorization: `Bearer ${company.api_key}` })).status).toBe(404);
  });

  it("is limited to the sites of a key or a user, also after a later connection", async () => {
    const { addKey, addSite } = test.current;
    const [seen, hidden] = [await addSite(), await addSite()];
    const start = await follow();
    const { token } = await addKey({ scopes: ["read", `site:${seen}`] });
    const cookie = await people.signIn(await people.add({ role: "viewer", siteIds: [seen] }));
    const live = await Promise.all([follow({ key: token }), follow({ cookie })]);
    const rename = (id: string) =>
      sql`update environments set picture_threshold = coalesce(picture_threshold, 0) + 1 where site_id = ${id}`;
    for (const id of [hidden, seen]) await rename(id).execute(test.current.database);
    const later = await Promise.all([
      follow({ key: token, after: start.lastId() }),
      follow({ cookie, after: start.lastId() }),
    ]);
    for (const stream of [...live, ...later]) {
      await stream.until(({ type }) => type === "environment.changed");
      expect(stream.received.map(({ data }) => data.site_id)).toEqual([seen]);
    }
  });

  it("follows a change of what the user may see", async () => {
    const { addSite, call, company, database } = test.current;
    const [before, after] = [await addSite(), await addSite()];
    const email = await people.add({ role: "viewer", siteIds: [before] });
    const stream = await follow({ cookie: await people.signIn(email) });
    const { id } = await database.selectFrom("users").select("id").where("email", "=", email).executeTakeFirstOrThrow();
    const body = { role: "viewer", site_ids: [after] };
    expect((await call("PUT", `/v2/company/${company.company_id}/users/${id}`, { body })).status).toBe(200);
    for (const site of [before, after]) {
      await sql`update environments set picture_threshold = 7 where site_id = ${site}`.execute(database);
    }
    await stream.until(({ type }) => type === "environment.changed");
    expect(stream.received.map(({ data }) => data.site_id)).toEqual([after]);
  });
});

describe("a stream ends", () => {
  it("when its key is revoked, or not accepted from its address any more", async () => {
    const { addKey, call, company } = test.current;
    const [revoked, moved] = [await addKey({}), await addKey({})];
    const streams = [await follow({ key: revoked.token }), await follow({ key: moved.token })];
    const path = `/v2/company/${company.company_id}/api-keys`;
    expect((await call("DELETE", `${path}/${revoked.id}`)).status).toBe(200);
    const body = { allowed_addresses: ["198.51.100.1"] };
    expect((await call("PUT", `${path}/${moved.id}/allowed-addresses`, { body })).status).toBe(200);
    for (const stream of streams) await stream.end();
    expect((await follow({ key: revoked.token, after: "1" })).status).toBe(401);
  });

  it("when its session ends, or has to do something else first", async () => {
    const email = await people.add();
    const cookies = [await people.signIn(email), await people.signIn(email)] as const;
    const streams = await Promise.all(cookies.map((cookie) => follow({ cookie })));
    expect((await people.call(cookies[0], "DELETE", "/session")).status).toBe(200);
    await streams[0]?.end();
    await test.current.database
      .updateTable("users")
      .set({ must_change_password: true })
      .where("email", "=", email)
      .execute();
    await streams[1]?.end();
  });

  it("if the client does not read it, and continues later", async () => {
    await using own = await startTestServer({ limits: { pageSeconds: 0.2 } });
    const { company_id, api_key } = own.company;
    const port = await own.listen();
    const url = `http://127.0.0.1:${port}/v2/company/${company_id}/events`;
    const start = await openEvents(`${url}?follow=false`, { authorization: `Bearer ${api_key}` });
    await start.end();
    const accepted = once(own.server.server, "connection");
    const socket = connect({ port, host: "127.0.0.1" }).on("error", () => undefined);
    onTestFinished(() => void socket.destroy());
    const head = `GET ${new URL(url).pathname} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${api_key}\r\n\r\n`;
    await new Promise((resolve) => socket.once("data", resolve).write(head));
    socket.pause();
    const [connection]: Socket[] = await accepted;
    const closed = connection && once(connection, "close");
    // More than the buffers of a connection hold.
    await sql`select add_event(${company_id}::uuid, 'large', null, jsonb_build_object('text', repeat('x', 60000)))
      from generate_series(1, 600)`.execute(own.database);
    await closed;
    expect(connection?.destroyed).toBe(true);
    const next = await openEvents(`${url}?follow=false`, {
      authorization: `Bearer ${api_key}`,
      "last-event-id": start.lastId(),
    });
    await next.end();
    expect(next.received.filter(({ type }) => type === "large")).toHaveLength(600);
    expect(new Set(idsOf(next)).size).toBe(next.received.length);
  });
});

describe("streams", () => {
  it("of a key are limited in number, and those of other keys are not affected", async () => {
    const { addKey } = test.current;
    const { token } = await addKey({});
    const open = await Promise.all(Array.from({ length: 20 }, () => follow({ key: token })));
    expect(new Set(open.map(({ status }) => status))).toEqual(new Set([200]));
    const refused = await follow({ key: token });
    expect(refused.status).toBe(429);
    expect(refused.headers.get("retry-after")).toBe("30");
    expect(JSON.parse(await refused.text())).toMatchObject({
      status: 429,
      message: expect.stringContaining("follows the events 20 times already"),
    });
    expect((await follow()).status).toBe(200);
    open[0]?.close();
    await expect.poll(async () => (await follow({ key: token })).status).toBe(200);
  });

  it("go on after an outage of the database", async () => {
    const { addSite, database } = test.current;
    const stream = await follow();
    await stream.until(isAbout(await addSite()));
    await sql`select pg_terminate_backend(pid) from pg_stat_activity
      where datname = current_database() and pid <> pg_backend_pid()`.execute(database);
    await stream.until(isAbout(await addSite()));
  });

  it("show that they are alive, with the id to continue after", async () => {
    await using own = await startTestServer({ eventBeatMilliseconds: 20 });
    const { company_id, api_key } = own.company;
    const url = `http://127.0.0.1:${await own.listen()}/v2/company/${company_id}/events`;
    const scopes = [`site:${await own.addSite()}`];
    const key = { authorization: `Bearer ${(await own.addKey({ scopes })).token}` };
    const stream = await openEvents(url, key);
    const before = stream.lastId();
    await own.addSite({}, api_key);
    // It sees nothing of that, but continues after it.
    await stream.untilId((id) => id > before);
    expect(stream.received).toEqual([]);
  });
});
