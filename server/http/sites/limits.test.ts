import { randomUUID } from "node:crypto";
import { addUsage, type Counters } from "@sitewright/server/store/traffic/usage.ts";
import { describe, expect, it } from "vitest";
import { useTestServer } from "../testing/server.ts";

const test = useTestServer();

async function operation(id: string) {
  return test.current.database
    .selectFrom("operations")
    .select(["input", "environment_id", "site_id", "kind"])
    .where("id", "=", id)
    .executeTakeFirstOrThrow();
}

const allocate = (id: string, body: unknown) =>
  test.current.call("POST", `/v2/sites/environments/${id}/change-environment-php-allocation`, { body });
const limitsOf = async (id: string) => (await test.current.call("GET", `/v2/sites/environments/${id}/limits`)).body;
const change = (id: string, body: unknown, key?: string) =>
  test.current.call("PUT", `/v2/sites/environments/${id}/limits`, { body, ...(key === undefined ? {} : { key }) });

describe("POST …/change-environment-php-allocation", () => {
  it("starts an operation with the allocation, and records it in the activity log", async () => {
    const { id } = await test.current.addSiteWithEnvironment();
    const answer = await allocate(id, { thread_count: 4, thread_memory: 512 });
    expect(answer.body).toMatchObject({
      status: 202,
      message: "Environment PHP allocation change in progress",
      operation_id: expect.stringMatching(/^environments:change-environment-php-allocation-/),
    });
    expect(await operation(answer.body.operation_id)).toMatchObject({
      environment_id: id,
      input: { environmentIds: [id], changes: { php_threads: 4, php_memory_mb: 512 } },
    });
    const { company_id } = test.current.company;
    const log = await test.current.call("GET", `/v2/company/${company_id}/activity-logs?limit=1`);
    expect(log.body.company.activity_logs.items[0].descriptions[0]).toContain("to 4 threads of 512 MB");
  });

  it.each([
    [
      { thread_count: 9, thread_memory: 256 },
      "thread_count must be from 1 to 8 here, not 9. Only the operator of the installation can raise the maximum.",
    ],
    [
      { thread_count: 2, thread_memory: 63 },
      "thread_memory must be from 64 to 1024 MB here, not 63. Only the operator of the installation can raise the maximum.",
    ],
    [
      { thread_count: 2, thread_memory: 1025 },
      "thread_memory must be from 64 to 1024 MB here, not 1025. Only the operator of the installation can raise the maximum.",
    ],
  ])("refuses %j with the installation's range", async (body, message) => {
    const { id } = await test.current.addSiteWithEnvironment();
    const answer = await allocate(id, body);
    expect(answer.body).toMatchObject({ status: 400, message, data: { code: "limit_out_of_bounds" } });
  });

  it.each([
    [{}, ["/thread_count", "/thread_memory"]],
    [{ thread_count: 0, thread_memory: 256 }, ["/thread_count"]],
    [{ thread_count: 1.5, thread_memory: 256 }, ["/thread_count"]],
    [{ thread_count: "2", thread_memory: 256 }, ["/thread_count"]],
    [{ thread_count: null, thread_memory: 256 }, ["/thread_count"]],
    [{ thread_count: 2, thread_memory: -256 }, ["/thread_memory"]],
    [{ thread_count: 2, thread_memory: "256M" }, ["/thread_memory"]],
  ])("refuses %j", async (body, paths) => {
    const { id } = await test.current.addSiteWithEnvironment();
    const answer = await allocate(id, body);
    expect(answer.status).toBe(400);
    expect(answer.body.data.errors.map(({ path }: { path: string }) => path)).toEqual(paths);
  });
});

describe("POST …/change-site-php-allocation", () => {
  it("changes all environments of the site and locks them", async () => {
    const { siteId, id, liveId } = await test.current.addSiteWithEnvironment();
    const path = `/v2/sites/${siteId}/change-site-php-allocation`;
    const answer = await test.current.call("POST", path, { body: { thread_count: 1, thread_memory: 128 } });
    expect(answer.body).toMatchObject({
      message: "Site PHP allocation change in progress",
      operation_id: expect.stringMatching(/^sites:change-site-php-allocation-/),
    });
    expect(await operation(answer.body.operation_id)).toMatchObject({
      input: { environmentIds: [liveId, id], changes: { php_threads: 1, php_memory_mb: 128 } },
    });
    const locks = test.current.database.selectFrom("environment_locks").select("environment_id");
    const own = await locks.where("operation_id", "=", answer.body.operation_id).execute();
    expect(own.map((row) => row.environment_id).toSorted()).toEqual([id, liveId].toSorted());
  });

  it("is forbidden for non-live keys", async () => {
    const { siteId } = await test.current.addSiteWithEnvironment();
    const { token: key } = await test.current.addKey({ scopes: ["write", "non-live"] });
    const path = `/v2/sites/${siteId}/change-site-php-allocation`;
    const body = { thread_count: 1, thread_memory: 128 };
    expect((await test.current.call("POST", path, { body, key })).status).toBe(403);
  });
});

describe("…/limits", () => {
  it("has the limits in force, their ranges, and the disk usage", async () => {
    const { id } = await test.current.addSiteWithEnvironment();
    expect(await limitsOf(id)).toEqual({
      environment: {
        id,
        limits: { thread_count: 2, thread_memory: 256, request_seconds: 60, disk_bytes: null },
        bounds: {
          thread_count: { minimum: 1, maximum: 8 },
          thread_memory: { minimum: 64, maximum: 1024 },
          request_seconds: { minimum: 1, maximum: 300 },
          disk_bytes: { minimum: 1_000_000, maximum: null },
        },
        use: { disk_bytes: null, disk_measured_at: null, is_over_disk_quota: false },
      },
    });
    await test.current.database
      .updateTable("environments")
      .set({ disk_bytes: 2_000_001, disk_measured_at: new Date(1_000), disk_quota_bytes: 2_000_000 })
      .set({ request_seconds: 10 })
      .where("id", "=", id)
      .execute();
    expect((await limitsOf(id)).environment).toMatchObject({
      limits: { request_seconds: 10, disk_bytes: 2_000_000 },
      use: { disk_bytes: 2_000_001, disk_measured_at: 1_000, is_over_disk_quota: true },
    });
  });

  it.each([
    [{ request_seconds: 30 }, { request_seconds: 30 }],
    [{ request_seconds: 300 }, { request_seconds: 300 }],
    [{ request_seconds: null }, { request_seconds: null }],
    [{ disk_bytes: 5_000_000 }, { disk_quota_bytes: 5_000_000 }],
    [
      { disk_bytes: null, request_seconds: 1 },
      { disk_quota_bytes: null, request_seconds: 1 },
    ],
  ])("changes only the fields of %j", async (body, changes) => {
    const { id } = await test.current.addSiteWithEnvironment();
    const answer = await change(id, body);
    expect(answer.body.message).toBe("Environment limits change in progress");
    expect(await operation(answer.body.operation_id)).toMatchObject({ input: { environmentIds: [id], changes } });
  });

  it.each([
    [{}, "nothing_to_change"],
    [{ request_seconds: 301 }, "limit_out_of_bounds"],
  ])("refuses %j with a code", async (body, code) => {
    const { id } = await test.current.addSiteWithEnvironment();
    expect((await change(id, body)).body).toMatchObject({ status: 400, data: { code } });
  });

  it.each([
    [{ request_seconds: 0 }, "/request_seconds"],
    [{ request_seconds: 1.5 }, "/request_seconds"],
    [{ request_seconds: "30" }, "/request_seconds"],
    [{ disk_bytes: 999_999 }, "/disk_bytes"],
    [{ disk_bytes: -1 }, "/disk_bytes"],
    [{ disk_bytes: 1e300 }, "/disk_bytes"],
    [{ disk_bytes: "10 GB" }, "/disk_bytes"],
  ])("refuses %j", async (body, path) => {
    const { id } = await test.current.addSiteWithEnvironment();
    const answer = await change(id, body);
    expect(answer.status).toBe(400);
    expect(answer.body.data.errors[0].path).toBe(path);
  });
});

describe("GET …/limits", () => {
  it("never shows more threads or memory than the installation allows", async () => {
    const { id } = await test.current.addSiteWithEnvironment();
    const environments = test.current.database.updateTable("environments").where("id", "=", id);
    await environments.set({ php_threads: 20, php_memory_mb: 4_096 }).execute();
    const { limits, bounds } = (await limitsOf(id)).environment;
    expect(limits).toMatchObject({ thread_count: 8, thread_memory: 1_024 });
    expect(bounds).toMatchObject({ thread_count: { maximum: 8 }, thread_memory: { maximum: 1_024 } });
  });
});

const noUsage: Counters = {
  php_requests: 0,
  php_milliseconds: 0,
  cpu_milliseconds: 0,
  killed_for_time: 0,
  killed_for_memory: 0,
  refused_busy: 0,
  bytes_sent: 0,
  writes: 0,
};

describe("GET /company/{id}/usage", () => {
  const usage = async (query = "", key?: string) => {
    const path = `/v2/company/${test.current.company.company_id}/usage${query}`;
    return test.current.call("GET", path, key === undefined ? {} : { key });
  };

  const count = (environmentId: string, counters: Partial<Counters>, cores = 0) =>
    addUsage(test.current.database, randomUUID(), [
      { environment_id: environmentId, recent_cores: cores, counters: { ...noUsage, ...counters } },
    ]);

  it("has each environment's usage, heaviest first, and marks noisy ones", async () => {
    const { id, liveId, siteId } = await test.current.addSiteWithEnvironment();
    await count(id, { cpu_milliseconds: 9_000_000, php_requests: 5, php_milliseconds: 1_500, bytes_sent: 10 }, 1.5);
    await count(liveId, { cpu_milliseconds: 8_000_000, killed_for_time: 6, killed_for_memory: 4 });
    const { items, total, from, to } = (await usage()).body.company.usage;
    expect(items[0]).toEqual({
      environment_id: id,
      display_name: expect.stringMatching(/^Staging/),
      site_id: siteId,
      site_display_name: expect.any(String),
      cpu_seconds: 9_000,
      php_requests: 5,
      php_seconds: 1.5,
      killed_for_time: 0,
      killed_for_memory: 0,
      refused_busy: 0,
      bytes_sent: 10,
      disk_bytes: null,
      disk_measured_at: null,
      is_over_disk_quota: false,
      limits: { thread_count: 2, thread_memory: 256, request_seconds: 60, disk_bytes: null },
      is_noisy: true,
      noise: ["cpu"],
    });
    expect(items[1]).toMatchObject({ environment_id: liveId, is_noisy: true, noise: ["killed"] });
    expect(total).toBeGreaterThanOrEqual(2);
    expect(to - from).toBeGreaterThanOrEqual(86_400_000);
    expect((await usage("?sort=killed&limit=1")).body.company.usage.items[0].environment_id).toBe(liveId);
    expect((await usage("?limit=1&offset=1")).body.company.usage.items[0].environment_id).toBe(liveId);
  });

  it("can be limited to a period", async () => {
    const { id } = await test.current.addSiteWithEnvironment();
    await count(id, { cpu_milliseconds: 20_000_000 });
    const hours = test.current.database.updateTable("usage_hours").where("environment_id", "=", id);
    await hours.set({ hour: new Date("2026-01-05T10:00:00Z") }).execute();
    const cpu = async (from: string, to: string) => {
      const answer = await usage(`?from=${Date.parse(from)}&to=${Date.parse(to)}&limit=1000`);
      const found = answer.body.company.usage.items.find(
        (one: { environment_id: string }) => one.environment_id === id,
      );
      return found.cpu_seconds;
    };
    expect(await cpu("2026-01-05T10:30:00Z", "2026-01-05T10:31:00Z")).toBe(20_000);
    expect(await cpu("2026-01-05T09:00:00Z", "2026-01-05T10:00:00Z")).toBe(0);
    expect(await cpu("2026-01-05T11:00:00Z", "2026-01-05T12:00:00Z")).toBe(0);
  });

  it("has only sites in the key's scope", async () => {
    const { siteId, id, liveId } = await test.current.addSiteWithEnvironment();
    await test.current.addSiteWithEnvironment();
    const { token } = await test.current.addKey({ scopes: [`site:${siteId}`] });
    const { items, total } = (await usage("", token)).body.company.usage;
    expect(items.map((one: { environment_id: string }) => one.environment_id).toSorted()).toEqual(
      [id, liveId].toSorted(),
    );
    expect(total).toBe(2);
  });

  it.each(["?from=2&to=1", "?from=5&to=5"])("refuses a period that ends before it begins: %s", async (query) => {
    expect((await usage(query)).body).toMatchObject({ status: 400, data: { code: "period_backwards" } });
  });

  it.each(["?from=x", "?to=-1", "?from=1.5", "?sort=name", "?limit=-1", "?to=8640000000000001"])(
    "refuses %s",
    async (query) => {
      expect((await usage(query)).status).toBe(400);
    },
  );
});
