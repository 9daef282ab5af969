import { expect, test } from "vitest";
import { makeBatchedRead } from "./batchedRead.ts";

/** Rows for all ids but `none`. Has the ids of each statement, and can hold statements up. */
function start() {
  const state = { statements: [] as (readonly string[])[], held: Promise.resolve() };
  const read = makeBatchedRead(async (ids) => {
    state.statements.push(ids);
    await state.held;
    return ids.filter((id) => id !== "none").map((id) => ({ id, text: `${id}!` }));
  });
  return { state, read };
}

const nextTurn = () => new Promise((resolve) => setImmediate(resolve));

test("reads of the same moment take one statement, which reads each row once", async () => {
  const { state, read } = start();
  const rows = await Promise.all(["a", "b", "a", "none"].map(read));
  expect(rows.map((row) => row?.text ?? null)).toEqual(["a!", "b!", "a!", null]);
  expect(rows[0]).toBe(rows[2]);
  expect(state.statements).toEqual([["a", "b", "none"]]);
});

test("reads that come while two statements run are collected for the next one", async () => {
  const { state, read } = start();
  const release = Promise.withResolvers<void>();
  state.held = release.promise;
  const reads = [read("1")];
  await nextTurn();
  reads.push(read("2"));
  await nextTurn();
  for (const id of ["3", "4", "5"]) {
    reads.push(read(id));
    await nextTurn();
  }
  expect(state.statements).toEqual([["1"], ["2"]]);
  release.resolve();
  expect((await Promise.all(reads)).map((row) => row?.text)).toEqual(["1!", "2!", "3!", "4!", "5!"]);
  expect(state.statements.slice(2)).toEqual([["3", "4", "5"]]);
});

test("a statement reads a limited number of rows", async () => {
  const { state, read } = start();
  await Promise.all(Array.from({ length: 250 }, (_, index) => read(String(index))));
  expect(state.statements.map(({ length }) => length)).toEqual([100, 100, 50]);
});

test("any number of reads of one row take one statement", async () => {
  const { state, read } = start();
  await Promise.all(Array.from({ length: 5_000 }, () => read("a")));
  expect(state.statements).toEqual([["a"]]);
});

test("a statement that fails fails its reads only", async () => {
  const { state, read } = start();
  const lost = Promise.reject(new Error("the connection was lost"));
  lost.catch(() => undefined);
  state.held = lost;
  const failed = await Promise.allSettled([read("1"), read("2")]);
  expect(failed.map(({ status }) => status)).toEqual(["rejected", "rejected"]);
  state.held = Promise.resolve();
  expect((await read("1"))?.text).toBe("1!");
});
