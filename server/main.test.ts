/** The control process from the supervisor's view: it reports when it is ready, and ends when it should. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { createPlaygroundRuntime } from "@sitewright/runtimes/playground/runtime.ts";
import { sharedAssets } from "@sitewright/runtimes/playground/testing/world.ts";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { useTestDatabase } from "./testing/database.ts";

const own = useTestDatabase();

/** The connections of others to the database. */
const connections = "select pid from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()";
/** Those that hold an exclusive advisory lock, as engines do. */
const runnerLocks = `select pid from pg_locks where locktype = 'advisory' and mode = 'ExclusiveLock' and pid in (${connections})`;

let data: string;

beforeAll(async () => {
  data = await mkdtemp(join(tmpdir(), "swmain-"));
  const runtime = createPlaygroundRuntime({ assets: sharedAssets, environments: join(data, "environments") });
  await runtime.prepare(() => undefined);
});
afterAll(async () => {
  await rm(data, { recursive: true });
});

function start(name: string, settings: NodeJS.ProcessEnv = {}): ChildProcess {
  return spawn(process.execPath, [join(import.meta.dirname, "main.ts"), name], {
    stdio: ["ignore", "ignore", "pipe", "ipc"],
    env: {
      PATH: process.env.PATH,
      NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE,
      SITEWRIGHT_DATA: data,
      SITEWRIGHT_ASSETS: sharedAssets,
      SITEWRIGHT_RUN: join(data, "run"),
      SITEWRIGHT_CONTROL_PORT: "0",
      SITEWRIGHT_EDGE_PORT: "8081",
      SITEWRIGHT_LOG_LEVEL: "silent",
      DATABASE_URL: own.url,
      ...settings,
    },
  });
}

async function startReady(): Promise<ChildProcess> {
  const child = start("control");
  const [message] = await once(child, "message");
  expect(message).toMatchObject({ type: "ready" });
  return child;
}

async function endOf(child: ChildProcess): Promise<{ code: number | null; errors: string }> {
  const errors = child.stderr ? text(child.stderr) : "";
  const [code] = await once(child, "exit");
  return { code, errors: await errors };
}

describe("the control process", () => {
  test.each(["SIGTERM", "SIGINT"] as const)("ends cleanly on %s", async (signal) => {
    const child = await startReady();
    const ended = endOf(child);
    child.kill(signal);
    expect(await ended).toEqual({ code: 0, errors: "" });
  });

  test("ends when its supervisor is gone", async () => {
    const child = await startReady();
    const ended = endOf(child);
    child.disconnect();
    expect((await ended).code).toBe(0);
  });

  test("goes on when PostgreSQL ends its connections", async () => {
    const child = await startReady();
    const ended = endOf(child);
    const { rows: before } = await own.pool.query<{ pid: number }>(connections);
    await own.pool.query(`select pg_terminate_backend(pid) from (${connections}) ended`);
    // Its engine holds a lock, on a connection of its own, as long as it runs operations.
    await vi.waitUntil(async () => {
      const { rows } = await own.pool.query<{ pid: number }>(runnerLocks);
      return rows.some(({ pid }) => before.every((ended) => ended.pid !== pid));
    });
    child.kill();
    expect((await ended).code).toBe(0);
  });

  test.each([
    [{ SITEWRIGHT_CONTROL_PORT: "eighty" }, "SITEWRIGHT_CONTROL_PORT"],
    [{ SITEWRIGHT_FIRST_API_KEY: "short" }, "SITEWRIGHT_FIRST_API_KEY"],
    [{ DATABASE_URL: "" }, "DATABASE_URL must be set"],
  ])("refuses to start with %o, and reports the reason", async (settings, errors) => {
    const ended = await endOf(start("control", settings));
    expect(ended.code).toBe(1);
    expect(ended.errors).toContain(errors);
    expect(ended.errors).not.toContain("    at ");
  });
});

test("an unknown process name prints the usage", async () => {
  expect(await endOf(start("kontrol"))).toEqual({ code: 2, errors: "Usage: node server/main.ts control|edge|dns\n" });
});
