/** Streams of events in several control processes of one database. */
import { randomUUID } from "node:crypto";
import { keysChangedChannel } from "@sitewright/server/store/company/apiKeys.ts";
import { eventAddedChannel, removeOldEvents } from "@sitewright/server/store/company/events.ts";
import { openNotifications } from "@sitewright/server/store/notifications.ts";
import { useTestDatabase } from "@sitewright/server/testing/database.ts";
import { silentLog } from "@sitewright/server/testing/engine.ts";
import { type RawBuilder, sql } from "kysely";
import { describe, expect, it, onTestFinished } from "vitest";
import type { Caller } from "./access.ts";
import { createCompany } from "./companies.ts";
import { type EventFeeds, makeEventFeeds } from "./eventFeeds.ts";
import { openEventStream } from "./eventStream.ts";

const test = useTestDatabase();

/** What a control process has for streams. */
async function startFeeds(): Promise<EventFeeds> {
  const notifications = await openNotifications({ url: test.url, channels: [eventAddedChannel, keysChangedChannel] });
  onTestFinished(() => notifications.close());
  return makeEventFeeds({ database: test.database, notifications, log: silentLog });
}

const callerOf = (companyId: string): Caller => ({
  keyId: randomUUID(),
  kind: "key",
  keyName: "Test",
  expiresAt: null,
  allowedAddresses: null,
  scopes: null,
  labelledSites: [],
  companyId,
  userId: randomUUID(),
  role: "owner",
  fullName: "Ada Lovelace",
  firstName: "Ada",
  userSites: null,
  isOperator: false,
  mustChangePassword: false,
  mustAddSecondFactor: false,
});

/** Makes all events so old that `removeOldEvents` removes them. */
const makeOld = sql`update events set created_at = now() - interval '25 hours'`;

interface Seen {
  readonly id: number;
  readonly type: string;
}

/** Opens a stream of all events that are committed from now on. `onLookUp` is called when it looks its caller up again. */
async function open(
  feeds: EventFeeds,
  companyId: string,
  after: number | null,
  onLookUp: () => void = () => undefined,
): Promise<AsyncGenerator<Seen>> {
  const stopping = new AbortController();
  onTestFinished(() => stopping.abort());
  const caller = callerOf(companyId);
  const { database } = test;
  const { signal } = stopping;
  const callerNow = async () => {
    onLookUp();
    return caller;
  };
  return eventsIn(await openEventStream({ database, feeds, caller, callerNow, after, isEndless: true, signal }));
}

async function* eventsIn(stream: AsyncIterable<string>): AsyncGenerator<Seen> {
  for await (const text of stream) {
    for (const [, id, type] of text.matchAll(/^id: (\d+)\nevent: (.+)$/gm))
      yield { id: Number(id), type: String(type) };
  }
}

async function take(events: AsyncGenerator<Seen>, count: number): Promise<readonly Seen[]> {
  const taken: Seen[] = [];
  while (taken.length < count) {
    const { value, done } = await events.next();
    if (done === true) throw new Error(`The stream ended after ${taken.length} of ${count} events`);
    taken.push(value);
  }
  return taken;
}

const addEvent = (companyId: string, type: string) => sql`select add_event(${companyId}::uuid, ${type}, null, '{}')`;

it("has each event once and in one order in all processes, whatever is committed at the same time", async () => {
  const companyId = randomUUID();
  const processes = await Promise.all([startFeeds(), startFeeds()]);
  const streams = await Promise.all(processes.map((feeds) => open(feeds, companyId, null)));
  const writers = Array.from({ length: 8 }, async (_, writer) => {
    for (let turn = 0; turn < 25; turn += 1) {
      await test.database.transaction().execute(async (transaction) => {
        await addEvent(companyId, `${writer}.${turn}.a`).execute(transaction);
        await addEvent(companyId, `${writer}.${turn}.b`).execute(transaction);
      });
    }
  });
  await Promise.all(writers);
  const [one = [], two = []] = await Promise.all(streams.map((stream) => take(stream, 400)));
  expect(one).toEqual(two);
  expect(new Set(one.map(({ type }) => type)).size).toBe(400);
  expect(one.map(({ id }) => id)).toEqual(one.map(({ id }) => id).toSorted((a, b) => a - b));
  for (let writer = 0; writer < 8; writer += 1) {
    const own = one.map(({ type }) => type).filter((type) => type.startsWith(`${writer}.`));
    expect(own).toEqual(Array.from({ length: 25 }, (_, turn) => [`${writer}.${turn}.a`, `${writer}.${turn}.b`]).flat());
  }
});

it("continues in another process, also after more events than are kept in memory", async () => {
  const companyId = randomUUID();
  const first = await open(await startFeeds(), companyId, null);
  await addEvent(companyId, "first").execute(test.database);
  const [{ id } = { id: 0 }] = await take(first, 1);
  await sql`select add_event(${companyId}::uuid, 'event ' || n, null, '{}') from generate_series(1, 1200) n`.execute(
    test.database,
  );
  const rest = await take(await open(await startFeeds(), companyId, id), 1_200);
  expect(rest.map(({ type }) => type)).toEqual(Array.from({ length: 1_200 }, (_, n) => `event ${n + 1}`));
});

it("has nothing but `reset` and what comes after it, if events were removed that the client had not seen", async () => {
  const companyId = randomUUID();
  const first = await open(await startFeeds(), companyId, null);
  await addEvent(companyId, "first").execute(test.database);
  const [{ id } = { id: 0 }] = await take(first, 1);
  await makeOld.execute(test.database);
  await removeOldEvents(test.database, 24);
  const complete = await open(await startFeeds(), companyId, id);
  await addEvent(companyId, "removed").execute(test.database);
  // Also if nobody has followed it.
  const without = await startFeeds();
  await take(complete, 1);
  await makeOld.execute(test.database);
  await removeOldEvents(test.database, 24);
  const incomplete = await open(without, companyId, id);
  expect((await take(incomplete, 1)).map(({ type }) => type)).toEqual(["reset"]);
  await addEvent(companyId, "last").execute(test.database);
  for (const stream of [complete, incomplete]) {
    expect((await take(stream, 1)).map(({ type }) => type)).toEqual(["last"]);
  }
});

describe("a change of keys, users or labels", () => {
  /** A company with a stream that counts how often it looks its caller up. */
  async function follow(feeds: EventFeeds) {
    const { company_id: companyId } = await createCompany(test.database, { name: randomUUID() });
    const company = { companyId, lookUps: 0 };
    const events = await open(feeds, companyId, null, () => {
      company.lookUps += 1;
    });
    /** Resolves when the stream has noticed everything that was committed before. */
    const settle = async () => {
      await addEvent(companyId, "marker").execute(test.database);
      await take(events, 1);
    };
    return Object.assign(company, { settle });
  }

  async function twoCompanies() {
    const feeds = await startFeeds();
    const [own, other] = [await follow(feeds), await follow(feeds)];
    /** How often each one's stream looks its caller up because of the change. */
    const lookUpsAfter = async (change: RawBuilder<unknown>) => {
      const before = [own.lookUps, other.lookUps];
      await change.execute(test.database);
      await own.settle();
      await other.settle();
      return [own.lookUps - (before[0] ?? 0), other.lookUps - (before[1] ?? 0)];
    };
    return { id: own.companyId, lookUpsAfter };
  }

  it("makes only the streams of its company look their callers up", async () => {
    const { id, lookUpsAfter } = await twoCompanies();
    const [site, label] = [randomUUID(), randomUUID()];
    await sql`insert into labels (id, company_id, name) values (${label}, ${id}, 'Shops')`.execute(test.database);
    const assign = sql`insert into site_labels (site_id, label_id, company_id) values (${site}, ${label}, ${id})`;
    for (const change of [
      sql`update users set role = 'admin' where company_id = ${id}`,
      sql`update api_keys set scopes = '{read}' where company_id = ${id}`,
      sql`update companies set requires_second_factor = true where id = ${id}`,
      assign,
      sql`delete from site_labels where label_id = ${label}`,
      sql`delete from api_keys where company_id = ${id}`,
      sql`delete from users where company_id = ${id}`,
    ]) {
      expect(await lookUpsAfter(change)).toEqual([1, 0]);
    }
  });

  it("that changes nothing makes no stream look its caller up", async () => {
    const { id, lookUpsAfter } = await twoCompanies();
    const [site, label] = [randomUUID(), randomUUID()];
    await sql`insert into labels (id, company_id, name) values (${label}, ${id}, 'Shops')`.execute(test.database);
    const assign = sql`
      insert into site_labels (site_id, label_id, company_id) values (${site}, ${label}, ${id}) on conflict do nothing`;
    expect(await lookUpsAfter(assign)).toEqual([1, 0]);
    for (const change of [
      assign,
      sql`delete from site_labels where label_id = ${randomUUID()}`,
      sql`update users set role = role, site_ids = site_ids where company_id = ${id}`,
      sql`update api_keys set revoked_at = revoked_at, scopes = scopes where company_id = ${id}`,
      sql`update companies set requires_second_factor = requires_second_factor`,
    ]) {
      expect(await lookUpsAfter(change)).toEqual([0, 0]);
    }
  });
});
