/**
 * Fails tests in which an open transaction waits for anything but the database. Such a transaction keeps a connection and
 * locks for as long as PHP or another server likes, so that a few requests of one company could stop all others.
 *
 * Vitest loads this file before each test file. Code runs inside a transaction if it was called by the callback of Kysely's
 * `transaction().execute`, however many calls or awaits lie between. There it must not open a connection to another
 * server, send a request, start a process or thread, or take a second database connection. The tests themselves are exempt:
 * some hold a lock until two requests meet at it, some kill a process in the middle of a transaction.
 */
import { AsyncLocalStorage } from "node:async_hooks";
import { subscribe } from "node:diagnostics_channel";
import { TransactionBuilder } from "kysely";
import pg from "pg";
import { afterEach, expect } from "vitest";
import type { DatabaseTransaction } from "../store/database.ts";

const channels = ["http.client.request.created", "net.client.socket", "child_process", "worker_threads"];

declare global {
  /** Stacks of waits in transactions. Set when the modules are patched, which files of one process share. */
  var waitsInTransactions: string[] | undefined;
}

type Callback = (transaction: DatabaseTransaction) => Promise<unknown>;

function watch(): string[] {
  const waits: string[] = [];
  const inside = new AsyncLocalStorage<true>();
  const report = (name: string) => {
    const { stack = "" } = new Error(`${name} in a transaction`);
    if (inside.getStore() && !isTest(stack)) waits.push(stack);
  };
  for (const channel of channels) subscribe(channel, () => report(channel));
  const { execute } = TransactionBuilder.prototype;
  Reflect.set(TransactionBuilder.prototype, "execute", function (this: object, callback: Callback) {
    const marked: Callback = (transaction) => inside.run(true, () => callback(transaction));
    return Reflect.apply(execute, this, [isTest(new Error().stack) ? callback : marked]);
  });
  const { connect } = pg.Pool.prototype;
  Reflect.set(pg.Pool.prototype, "connect", function (this: object, ...parameters: unknown[]) {
    report("a second database connection");
    return Reflect.apply(connect, this, parameters);
  });
  return waits;
}

/** Frames of libraries, and of our code around the pool of connections. */
const betweenCallerAndPool = /node_modules|testing\/transactions|store\/(waitingPool|outages)/;

/** Whether the innermost function of ours is a test's. */
function isTest(stack = ""): boolean {
  const ours = stack.split("\n").find((line) => /\.ts:\d/.test(line) && !betweenCallerAndPool.test(line));
  return /\.test\.ts|\/testing\//.test(ours ?? "");
}

globalThis.waitsInTransactions ??= watch();
const waits = globalThis.waitsInTransactions;

afterEach(() => {
  expect(waits.splice(0)).toEqual([]);
});
