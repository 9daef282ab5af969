import { Readable } from "node:stream";
import { describe, expect, onTestFinished, test } from "vitest";
import { createTestDatabase, type TestDatabase } from "../testing/database.ts";
import { describeSchema } from "../testing/schema.ts";
import {
  beginLoad,
  beginSnapshot,
  dumpRows,
  dumpSequences,
  listTables,
  loadSequences,
  prepareLoad,
  suspendForeignKeys,
} from "./dump.ts";

async function ownDatabase(template?: string): Promise<TestDatabase> {
  const own = await createTestDatabase(template === undefined ? {} : { template });
  onTestFinished(own.drop);
  return own;
}

const oddSchema = `
  create table odd (
    id integer generated always as identity primary key,
    big bigint, texts text[], moment timestamptz, day date, span interval, bytes bytea, document jsonb,
    amount numeric, number double precision, "of course" boolean, sum integer generated always as (id + 1) stored
  )`;

const oddRows = `
  insert into odd (big, texts, moment, day, span, bytes, document, amount, number, "of course") values
    (9223372036854775807, array['a','b,c','"',null,''], '2026-03-29 01:30:00.123456+00', '2026-02-28', '1 day 02:03',
      '\\x00ff0a', '{"a":[1.10,null,"\\u00fc"]}', 12345678901234567890.10, 0.1, true),
    (null, null, 'infinity', null, null, null, 'null', null, 'NaN', null),
    (-1, '{}', null, null, null, '\\x', '"a\\nb\\\\"', -0.0, -1e300, false)`;

function linesOf(rows: AsyncIterable<string>): Promise<string[]> {
  return Readable.from(rows).toArray();
}

async function copy(from: TestDatabase, to: TestDatabase): Promise<void> {
  const [source, target] = [await from.pool.connect(), await to.pool.connect()];
  await beginSnapshot(source);
  await beginLoad(target);
  const resume = await suspendForeignKeys(target);
  for (const table of await listTables(source)) {
    const load = await prepareLoad(target, table);
    const lines = await linesOf(dumpRows(source, table));
    if (lines.length > 0) await load?.(lines);
  }
  await loadSequences(target, await dumpSequences(source));
  await resume();
  for (const client of [source, target]) {
    await client.query("commit");
    client.release();
  }
}

describe("a dump", () => {
  test("has every table except mails, marks of changes and counts", async () => {
    const own = await ownDatabase();
    const client = await own.pool.connect();
    const names = (await listTables(client)).map(({ name }) => name);
    client.release();
    expect(names).toContain("environments");
    expect(names).not.toContain("mails");
    expect(names).not.toContain("list_changes");
    expect(names.filter((name) => name.startsWith("activity"))).toEqual(["activity", "activity_seals"]);
  });

  test("preserves values of every type, and tells a JSON null from an SQL null", async () => {
    const [from, to] = [await ownDatabase("template0"), await ownDatabase("template0")];
    for (const own of [from, to]) await own.pool.query(oddSchema);
    await from.pool.query(oddRows);
    await copy(from, to);
    const read = "select t::text, document is null as none from odd t order by id";
    const { rows } = await to.pool.query(read);
    expect(rows).toEqual((await from.pool.query(read)).rows);
    expect(rows).toHaveLength(3);
    expect(rows[1]).toMatchObject({ none: false });
  });

  test("does not depend on the server's settings", async () => {
    const own = await ownDatabase("template0");
    await own.pool.query(oddSchema);
    await own.pool.query(oddRows);
    const read = async () => {
      const client = await own.pool.connect();
      await client.query("set datestyle = 'German'; set timezone = 'Asia/Tokyo'; set bytea_output = 'escape'");
      await beginSnapshot(client);
      const lines = await linesOf(dumpRows(client, { name: "odd", columns: ["moment", "bytes"] }));
      await client.query("commit");
      client.release(true);
      return lines;
    };
    expect((await read())[0]).toBe('["2026-03-29 01:30:00.123456+00", "\\\\x00ff0a"]');
  });

  test("continues every sequence, and keeps foreign keys", async () => {
    const [from, to] = [await ownDatabase(), await ownDatabase()];
    const before = await describeSchema(to.pool);
    await from.pool.query("select setval('environment_numbers', 41)");
    await from.pool.query("select setval('edge_generation', 7)");
    await copy(from, to);
    const next = "select nextval('environment_numbers')::int as n, nextval('edge_generation')::int as g";
    expect((await to.pool.query(next)).rows).toEqual([{ n: 42, g: 8 }]);
    expect(await describeSchema(to.pool)).toBe(before);
  });

  test("has more rows than are fetched at once", async () => {
    const [from, to] = [await ownDatabase("template0"), await ownDatabase("template0")];
    for (const own of [from, to]) await own.pool.query("create table many (id integer primary key)");
    await from.pool.query("insert into many select generate_series(1, 1000)");
    await copy(from, to);
    const { rows } = await to.pool.query("select count(*)::int as n, sum(id)::int as s from many");
    expect(rows).toEqual([{ n: 1000, s: 500_500 }]);
  });

  test("is a snapshot: later writes are not in it", async () => {
    const own = await ownDatabase("template0");
    await own.pool.query("create table note (text text); insert into note values ('before')");
    const client = await own.pool.connect();
    await beginSnapshot(client);
    const [table] = await listTables(client);
    await own.pool.query("insert into note values ('after')");
    expect(await linesOf(dumpRows(client, table ?? { name: "", columns: [] }))).toEqual(['["before"]']);
    await client.query("commit");
    client.release();
  });

  test("with rows that violate foreign keys is refused", async () => {
    const [from, to] = [await ownDatabase("template0"), await ownDatabase("template0")];
    await from.pool.query("create table child (parent integer); insert into child values (1)");
    await to.pool.query("create table parent (id integer primary key)");
    await to.pool.query("create table child (parent integer references parent)");
    await expect(copy(from, to)).rejects.toThrow(/violates foreign key constraint/);
  });
});
