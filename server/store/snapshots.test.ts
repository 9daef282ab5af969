/** Other tests use the same server, and their changes give new snapshots, too. */
import { expect, test, vi } from "vitest";
import { createTestDatabase, useTestDatabase } from "../testing/database.ts";
import { makeSnapshots, type Snapshots } from "./snapshots.ts";

const own = useTestDatabase();

const read = (snapshots: Snapshots) =>
  new Promise<string | null>((resolve, reject) => {
    snapshots.read((snapshot, failure) => (failure === undefined ? resolve(snapshot) : reject(failure)));
  });

/** Snapshots on a connection that is open already. */
async function start(): Promise<Snapshots> {
  const snapshots = makeSnapshots(own.pool);
  await expect.poll(() => read(snapshots)).not.toBeNull();
  return snapshots;
}

const add = (name: string) => own.pool.query("insert into companies (id, name) values (gen_random_uuid(), $1)", [name]);

test("snapshots are equal as long as nothing is committed", async () => {
  const snapshots = await start();
  const areEqual = async () => {
    const first = await read(snapshots);
    return first === snapshots.latest() && first === (await read(snapshots));
  };
  await expect.poll(areEqual).toBe(true);
});

test("every change gives a new snapshot, also one that undoes another", async () => {
  const snapshots = await start();
  const seen = [await read(snapshots)];
  await add("Theirs");
  seen.push(await read(snapshots));
  await own.pool.query("delete from companies where name = 'Theirs'");
  seen.push(await read(snapshots));
  expect(new Set(seen).size).toBe(3);
});

test("a snapshot sees what was committed before it was asked for, also if others were waiting", async () => {
  const snapshots = await start();
  const before = new Set<string | null>();
  for (let count = 0; count < 20; count += 1) {
    const waiting = Array.from({ length: 5 }, () => read(snapshots));
    await add(`Company ${count}`);
    expect(before).not.toContain(await read(snapshots));
    for (const snapshot of await Promise.all(waiting)) before.add(snapshot);
  }
});

test("all that ask at the same moment share a statement", async () => {
  await using fresh = await createTestDatabase();
  const client = await fresh.pool.connect();
  const query = vi.spyOn(client, "query");
  client.release();
  const snapshots = makeSnapshots(fresh.pool);
  await Promise.all(Array.from({ length: 100 }, () => read(snapshots)));
  expect(query).toHaveBeenCalledTimes(1);
});

test("a snapshot that may be of another server is compared with none", async () => {
  await using fresh = await createTestDatabase();
  const snapshots = makeSnapshots(fresh.pool);
  expect(await read(snapshots)).toBeNull();
  const first = await read(snapshots);
  expect(first).not.toBeNull();
  const only = await fresh.pool.connect();
  expect(await read(snapshots)).toBeNull();
  only.release();
  expect(await read(snapshots)).not.toBe(first);
});

test("a lost connection is replaced", async () => {
  const snapshots = await start();
  await own.pool.query(
    "select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()",
  );
  await expect.poll(() => read(snapshots)).not.toBeNull();
});
