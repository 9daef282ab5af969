/** Two control processes on one database. */
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createFakeRuntime } from "@sitewright/runtimes/fake/runtime.ts";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type Control, startControl } from "./control.ts";
import type { FirstRun } from "./firstRun.ts";
import { loadConfig } from "./settings/config.ts";
import { createTestDatabase, type TestDatabase } from "./testing/database.ts";
import { startTestEdge, type TestEdge } from "./testing/edge.ts";
import { silentLog } from "./testing/engine.ts";

let data: string;
let own: TestDatabase;
let edge: TestEdge;
let first: Control;
let second: Control;
let firstRun: FirstRun;

async function start(): Promise<Control> {
  const config = loadConfig({
    SITEWRIGHT_DATA: data,
    SITEWRIGHT_RUN: edge.runFolder,
    SITEWRIGHT_CONTROL_PORT: "0",
    SITEWRIGHT_WPORG_URL: "none",
    SITEWRIGHT_RATE_LIMIT_PER_MINUTE: "1000000",
    DATABASE_URL: own.url,
  });
  return startControl({
    config,
    runtimes: { playground: createFakeRuntime({ folder: join(data, "fake") }) },
    log: silentLog,
  });
}

const keysPath = () => `/company/${firstRun.company_id}/api-keys`;

const send = (control: Control, key: string, method = "GET", path = "/validate", body?: object) =>
  fetch(`${control.url}/v2${path}`, {
    method,
    headers: { authorization: `Bearer ${key}`, ...(body && { "content-type": "application/json" }) },
    ...(body && { body: JSON.stringify(body) }),
  });

async function statusOf(control: Control, key: string, path = "/validate"): Promise<number> {
  const response = await send(control, key, "GET", path);
  await response.arrayBuffer();
  return response.status;
}

interface CreatedKey {
  readonly id: string;
  readonly token: string;
}

async function createKey(): Promise<CreatedKey> {
  const response = await send(first, firstRun.api_key, "POST", keysPath(), { name: "Other" });
  const { api_key, token } = JSON.parse(await response.text());
  return { id: api_key.id, token };
}

beforeEach(async () => {
  data = await mkdtemp(join(tmpdir(), "swcontrols-"));
  own = await createTestDatabase();
  edge = await startTestEdge(data);
  first = await start();
  second = await start();
  firstRun = JSON.parse(await readFile(join(data, "first-run.json"), "utf8"));
});
afterEach(async () => {
  await Promise.all([first.stop(), second.stop()]);
  await edge[Symbol.asyncDispose]();
  await own.drop();
  await rm(data, { recursive: true });
});

describe("a key that is revoked during many requests", () => {
  test.each([
    ["that need only the key", () => "/validate"],
    ["that need the database", () => `/sites?company=${firstRun.company_id}`],
  ])("%s is refused at once by the process that revoked it, and soon by the other one", async (_, pathOf) => {
    const path = pathOf();
    const { id, token } = await createKey();
    let isRevoked = false;
    let isOver = false;
    const late: number[] = [];
    const client = async (control: Control) => {
      while (!isOver) {
        const isAfter = isRevoked;
        const status = await statusOf(control, token, path);
        if (isAfter && control === first) late.push(status);
      }
    };
    const clients = [first, second].flatMap((control) => Array.from({ length: 8 }, () => client(control)));
    await expect.poll(() => statusOf(second, token)).toBe(200);
    expect((await send(first, firstRun.api_key, "DELETE", `${keysPath()}/${id}`)).status).toBe(200);
    isRevoked = true;
    expect(await statusOf(first, token)).toBe(401);
    await expect.poll(() => statusOf(second, token)).toBe(401);
    // It stays refused: no lookup from before the revocation is kept.
    for (let count = 0; count < 20; count += 1) expect(await statusOf(second, token)).toBe(401);
    await expect.poll(() => late.length).toBeGreaterThan(20);
    isOver = true;
    await Promise.all(clients);
    expect(new Set(late)).toEqual(new Set([401]));
  });
});

describe("a read", () => {
  test("is never older than a change that another process has acknowledged, whatever is repeated from memory", async () => {
    const path = keysPath();
    let isOver = false;
    const client = async () => {
      while (!isOver) await statusOf(second, firstRun.api_key, `/company/${firstRun.company_id}/activity-logs`);
    };
    const clients = Array.from({ length: 8 }, client);
    const newest = async (control: Control) => {
      const response = await send(control, firstRun.api_key, "GET", `/company/${firstRun.company_id}/activity-logs`);
      const { company } = JSON.parse(await response.text());
      return company.activity_logs.total;
    };
    for (let count = 0; count < 20; count += 1) {
      const [before] = [await newest(second), await newest(second)];
      expect((await send(first, firstRun.api_key, "POST", path, { name: `Key ${count}` })).status).toBe(201);
      expect(await newest(second)).toBeGreaterThan(before);
    }
    isOver = true;
    await Promise.all(clients);
  });
});

describe("rate limits", () => {
  test("are halved while there are two processes, and whole again when one has ended", async () => {
    const limit = async () => {
      const response = await send(first, firstRun.api_key);
      await response.arrayBuffer();
      return response.headers.get("x-ratelimit-limit");
    };
    await expect.poll(limit).toBe("500000");
    await second.stop();
    await expect.poll(limit).toBe("1000000");
  });
});
