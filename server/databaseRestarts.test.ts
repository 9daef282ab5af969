/** The API while its PostgreSQL is stopped and started again. */
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createFakeRuntime } from "@sitewright/runtimes/fake/runtime.ts";
import { type RunningPostgres, startPostgres } from "@sitewright/supervisor/postgres/postgres.ts";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type Control, startControl } from "./control.ts";
import type { FirstRun } from "./firstRun.ts";
import { loadConfig } from "./settings/config.ts";
import { startTestEdge, type TestEdge } from "./testing/edge.ts";
import { silentLog } from "./testing/engine.ts";

let data: string;
let edge: TestEdge;
let postgres: RunningPostgres;
let control: Control;
let firstRun: FirstRun;
let lost: Error | null;

async function startDatabase(): Promise<void> {
  postgres = await startPostgres({ dataDirectory: join(data, "postgres"), runDirectory: edge.runFolder });
}

interface Answer {
  readonly status: number;
  readonly retryAfter: string | null;
  // biome-ignore lint/suspicious/noExplicitAny: tests read fields of any response, and fail if they are missing
  readonly body: any;
}

async function send(
  method: string,
  path: string,
  body?: object,
  headers: Record<string, string> = {},
): Promise<Answer> {
  const response = await fetch(`${control.url}/v2${path}`, {
    method,
    headers: {
      authorization: `Bearer ${firstRun.api_key}`,
      ...(body && { "content-type": "application/json" }),
      ...headers,
    },
    ...(body && { body: JSON.stringify(body) }),
  });
  return { status: response.status, retryAfter: response.headers.get("retry-after"), body: await response.json() };
}

const addSite = (name: string, headers = {}) =>
  send("POST", "/sites", { company: firstRun.company_id, display_name: name, ...fields }, headers);

const fields = {
  region: "europe-west3",
  install_mode: "new",
  admin_email: "ada@example.com",
  admin_user: "ada",
  admin_password: "correct horse battery staple",
  site_title: "Ada's notes",
  wp_language: "en_US",
};

beforeEach(async () => {
  data = await mkdtemp(join(tmpdir(), "swrestarts-"));
  edge = await startTestEdge(data);
  await startDatabase();
  const config = loadConfig({
    SITEWRIGHT_DATA: data,
    SITEWRIGHT_RUN: edge.runFolder,
    SITEWRIGHT_CONTROL_PORT: "0",
    SITEWRIGHT_WPORG_URL: "none",
    SITEWRIGHT_CREATION_LIMIT_PER_MINUTE: "1000000",
    SITEWRIGHT_RATE_LIMIT_PER_MINUTE: "1000000",
    SITEWRIGHT_EDGE_PORT: String(edge.edge.port),
    DATABASE_URL: postgres.url,
  });
  control = await startControl({
    config,
    runtimes: { playground: createFakeRuntime({ folder: join(data, "fake") }) },
    log: silentLog,
  });
  lost = null;
  void control.lost.then((error) => {
    lost = error;
  });
  firstRun = JSON.parse(await readFile(join(data, "first-run.json"), "utf8"));
});
afterEach(async () => {
  await control.stop();
  await postgres.stop();
  await edge[Symbol.asyncDispose]();
  await rm(data, { recursive: true });
});

describe("while PostgreSQL restarts", () => {
  test.each(["stop", "kill"] as const)("after a %s, no request fails, and each change is made once", async (how) => {
    let isOver = false;
    let answers = 0;
    const failed: Answer[] = [];
    const [made, unknown]: [string[], string[]] = [[], []];
    const note = ({ status, ...facts }: Answer, expected: number) => {
      answers += 1;
      if (status !== expected) failed.push({ status, ...facts });
    };
    const read = async () => {
      while (!isOver) note(await send("GET", `/sites?company=${firstRun.company_id}`), 200);
    };
    const change = async () => {
      for (let number = 1; !isOver; number += 1) {
        const answer = await addSite(`Plain ${number}`);
        // Only a lost COMMIT may be answered otherwise, and says so.
        const isUnknown = answer.status === 500 && /may have been made/.test(answer.body.message);
        (isUnknown ? unknown : made).push(`Plain ${number}`);
        if (!isUnknown) note(answer, 202);
      }
    };
    const changeWithKey = async () => {
      for (let number = 1; !isOver; number += 1) {
        const key = { "idempotency-key": crypto.randomUUID() };
        let answer = await addSite(`Keyed ${number}`, key);
        while (answer.status >= 500) answer = await addSite(`Keyed ${number}`, key);
        note(answer, 202);
        made.push(`Keyed ${number}`);
      }
    };
    const clients = [...Array.from({ length: 8 }, read), change(), changeWithKey()];
    await expect.poll(() => answers).toBeGreaterThan(20);
    await postgres[how]();
    await postgres.exited;
    await startDatabase();
    const before = answers;
    await expect.poll(() => answers).toBeGreaterThan(before + 20);
    isOver = true;
    await Promise.all(clients);
    expect(failed).toEqual([]);
    const countRunning = async () => (await send("GET", "/operations?state=running")).body.company.operations.total;
    await expect.poll(countRunning).toBe(0);
    const { body } = await send("GET", `/sites?company=${firstRun.company_id}`);
    const sites: { readonly display_name: string }[] = body.company.sites;
    const names = sites.map(({ display_name }) => display_name).filter((name) => !unknown.includes(name));
    expect(names.toSorted()).toEqual(made.toSorted());
    expect(lost).toBeNull();
  });

  test("a client that waits for an operation gets its end afterwards", async () => {
    const { body } = await addSite("Waiting");
    await send("GET", `/operations/${body.operation_id}?wait=30`);
    const restart = await addSite("Restarted");
    await postgres.stop();
    const waiting = send("GET", `/operations/${restart.body.operation_id}?wait=30`);
    await startDatabase();
    expect((await waiting).status).toBe(200);
  });
});

describe("without PostgreSQL", () => {
  test("requests are answered with 503 after their time, and again once it is back", async () => {
    // Also a read that could be repeated from memory has to ask the database.
    const list = () => send("GET", `/sites?company=${firstRun.company_id}`);
    for (let count = 0; count < 5; count += 1) expect((await list()).status).toBe(200);
    await postgres.stop();
    const [read, change] = await Promise.all([list(), addSite("Too late", { "idempotency-key": "again" })]);
    for (const { status, retryAfter, body } of [read, change]) {
      expect([status, retryAfter, body.data]).toEqual([503, "5", null]);
      expect(body.message).toMatch(/Nothing was changed/);
    }
    await startDatabase();
    expect((await addSite("Too late", { "idempotency-key": "again" })).status).toBe(202);
  });
});
