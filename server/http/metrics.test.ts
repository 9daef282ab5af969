import { randomUUID } from "node:crypto";
import { afterAll, describe, expect, it } from "vitest";
import { addCertificate } from "../store/domains/certificates.ts";
import { addOwnDomain } from "../store/testing/rows.ts";
import { acmeUrl, startTestServer, type TestServer, useTestServer } from "./testing/server.ts";

const test = useTestServer();
const token = "a token of sixteen".replaceAll(" ", "-");
const guarded = await startTestServer({ metricsToken: token });
afterAll(() => guarded[Symbol.asyncDispose]());

async function readMetrics(
  { server }: TestServer,
  remoteAddress: string,
  headers: Readonly<Record<string, string>> = {},
) {
  return server.inject({ method: "GET", url: "/metrics", remoteAddress, headers });
}

/** Adds a verified domain that points here, so that it can have a certificate. */
async function addDomain(database: TestServer["database"], environmentId: string): Promise<string> {
  const id = await addOwnDomain(database, environmentId);
  const seen = { verified_at: new Date(), points_here_at: new Date() };
  await database.updateTable("domains").set(seen).where("id", "=", id).execute();
  return id;
}

describe("access to /metrics", () => {
  it.each(["127.0.0.1", "127.9.9.9", "::1", "::ffff:127.0.0.1"])(
    "is allowed from this machine: %s",
    async (address) => {
      const answer = await readMetrics(test.current, address);
      expect(answer.statusCode).toBe(200);
      expect(answer.headers["content-type"]).toBe("text/plain; version=0.0.4; charset=utf-8");
      expect(answer.body).toMatch(/^process_cpu_seconds_total \d/m);
      expect(answer.body).toMatch(/^nodejs_eventloop_lag_seconds \d/m);
    },
  );

  it.each(["203.0.113.7", "10.0.0.1", "2001:db8::1", "::ffff:10.0.0.1"])(
    "is a 404 for other machines: %s",
    async (address) => {
      const answer = await readMetrics(test.current, address);
      expect([answer.statusCode, JSON.parse(answer.body).data]).toEqual([404, null]);
      expect((await readMetrics(test.current, address, { authorization: `Bearer ${token}` })).statusCode).toBe(404);
    },
  );

  it.each(["x-forwarded-for", "forwarded", "x-real-ip", "via"])("is a 404 through a proxy: %s", async (name) => {
    expect((await readMetrics(test.current, "127.0.0.1", { [name]: "for=203.0.113.7" })).statusCode).toBe(404);
  });

  it("needs the token if one is set, from all machines", async () => {
    for (const address of ["203.0.113.7", "127.0.0.1"]) {
      expect((await readMetrics(guarded, address, { authorization: `Bearer ${token}` })).statusCode).toBe(200);
      for (const authorization of ["", `Bearer ${token}x`, "Bearer", `Basic ${token}`, token]) {
        const answer = await readMetrics(guarded, address, { authorization });
        expect([answer.statusCode, answer.headers["www-authenticate"]]).toEqual([401, "Bearer"]);
      }
    }
  });

  it("is by GET only, outside of the API's path", async () => {
    const { call } = test.current;
    const answer = await call("POST", "/metrics", { body: {} });
    expect([answer.status, answer.headers.allow]).toEqual([405, "GET, HEAD"]);
    expect((await call("GET", "/v2/metrics")).status).toBe(404);
  });
});

describe("metrics for operators", () => {
  const valuesOf = async (server: TestServer) =>
    new Map(
      (await readMetrics(server, "127.0.0.1")).body
        .split("\n")
        .filter((line) => line !== "" && !line.startsWith("#"))
        .map((line) => [line.slice(0, line.lastIndexOf(" ")), Number(line.slice(line.lastIndexOf(" ") + 1))] as const),
    );

  it("count sites, environments, operations by state, and overdue first backups", async () => {
    const own = await startTestServer();
    await using _ = own;
    const { id: environmentId, liveId } = await own.addSiteWithEnvironment();
    await own.addBackup(liveId);
    const { id: newId } = await own.addSiteWithEnvironment();
    const setDue = (id: string, minutes: number) =>
      own.database
        .updateTable("environments")
        .set({ backup_due_at: new Date(Date.now() + minutes * 60_000) })
        .where("id", "=", id)
        .execute();
    await setDue(environmentId, -61);
    await setDue(newId, 60);
    const restart = () =>
      own.call("POST", "/v2/sites/tools/restart-php", {
        body: { environment_id: environmentId },
        headers: { "when-busy": "queue" },
      });
    await own.fail((await restart()).body.operation_id, "PHP did not restart.");
    for (let count = 0; count < 3; count += 1) await restart();
    const values = await valuesOf(own);
    expect(Object.fromEntries([...values].filter(([name]) => /^sitewright_(sites|env|op|backup)/.test(name)))).toEqual({
      sitewright_sites: 2,
      'sitewright_environments{state="serving"}': 4,
      'sitewright_operations{state="waiting"}': 2,
      'sitewright_operations{state="running"}': 1,
      'sitewright_operations{state="succeeded"}': 4,
      'sitewright_operations{state="failed"}': 1,
      sitewright_operation_wait_seconds: expect.any(Number),
      sitewright_backup_age_seconds: expect.any(Number),
      'sitewright_backup_problems{problem="missing"}': 1,
      'sitewright_backup_problems{problem="failing"}': 0,
      'sitewright_backup_problems{problem="damaged"}': 0,
      sitewright_environments_bytes: 0,
    });
    expect(values.get("sitewright_operation_wait_seconds")).toBeGreaterThan(0);
    expect(values.get("sitewright_disk_free_bytes")).toBeGreaterThan(1e6);
  });

  it("have the edge's PHP workers, request bodies and response times, and whether the edge is up", async () => {
    expect((await valuesOf(test.current)).get("sitewright_edge_up")).toBe(0);
    const times = [{ status: "2xx", counts: [4, 2, 1], sumSeconds: 3.5 }];
    await using server = await startTestServer({
      edgeNumbers: async () => ({
        workers: [{ busy: true }, { busy: false }, { busy: false }],
        preparedWorkers: 1,
        bodies: { memoryBytes: 10, diskBytes: 20, refused: 3 },
        answers: { buckets: [0.1, 1], times },
      }),
    });
    for (let round = 0; round < 2; round += 1) {
      const values = await valuesOf(server);
      expect(
        Object.fromEntries([...values].filter(([name]) => /^sitewright_(edge|php|request|answer)/.test(name))),
      ).toEqual({
        sitewright_edge_up: 1,
        'sitewright_php_workers{state="busy"}': 1,
        'sitewright_php_workers{state="idle"}': 2,
        'sitewright_php_workers{state="prepared"}': 1,
        sitewright_php_workers_limit: 8,
        'sitewright_request_body_bytes{place="memory"}': 10,
        'sitewright_request_body_bytes{place="disk"}': 20,
        sitewright_request_bodies_refused_total: 3,
        'sitewright_answer_seconds_bucket{status="2xx",le="0.1"}': 4,
        'sitewright_answer_seconds_bucket{status="2xx",le="1"}': 6,
        'sitewright_answer_seconds_bucket{status="2xx",le="+Inf"}': 7,
        'sitewright_answer_seconds_sum{status="2xx"}': 3.5,
        'sitewright_answer_seconds_count{status="2xx"}': 7,
      });
    }
  });

  it("are finite numbers from the first request on", async () => {
    await using server = await startTestServer();
    const values = await valuesOf(server);
    for (const [name, value] of values) expect([name, value]).toEqual([name, expect.toSatisfy(Number.isFinite)]);
    expect(Math.max(...[...values].filter(([name]) => name.includes("lag")).map(([, value]) => value))).toBeLessThan(
      600,
    );
    const used = process.cpuUsage();
    const cpu = values.get("process_cpu_seconds_total") ?? 0;
    expect(cpu).toBeGreaterThan(((used.user + used.system) / 1e6) * 0.8);
  });
});

describe("metrics of certificates", () => {
  const linesOf = async (name: string) =>
    (await readMetrics(test.current, "127.0.0.1")).body.split("\n").filter((line) => line.startsWith(`${name}{`));

  it("have the expiry of each served domain's certificates, by source", async () => {
    const { addSiteWithEnvironment, company, database } = test.current;
    const { id: environmentId } = await addSiteWithEnvironment();
    const id = await addDomain(database, environmentId);
    const name = `d-${id}.example`;
    const add = (source: "acme" | "custom", names: readonly string[], seconds: number) => {
      const times = { notBefore: new Date(0), notAfter: new Date(seconds * 1_000) };
      const certificate = { names, chain: "", fingerprint: randomUUID(), ...times };
      const place = { companyId: company.company_id, environmentId };
      return database
        .transaction()
        .execute((transaction) =>
          addCertificate(transaction, { id: randomUUID(), ...place, source, certificate, keySealed: Buffer.alloc(1) }),
        );
    };
    await add("acme", [name, `www.${name}`], 4_000_000_000);
    await add("acme", [name], 4_100_000_000);
    await add("custom", ["*.example"], 1_000_000_000);
    await add("custom", ["elsewhere.test"], 4_200_000_000);
    const metric = "sitewright_certificate_expiry_timestamp_seconds";
    expect(await linesOf(metric)).toEqual([
      `${metric}{domain="${name}",source="acme"} 4100000000`,
      `${metric}{domain="${name}",source="custom"} 1000000000`,
    ]);
    await database.updateTable("domains").set({ is_active: false }).where("id", "=", id).execute();
    expect(await linesOf(metric)).toEqual([]);
  });

  it("count the orders by state", async () => {
    const { addSiteWithEnvironment, database } = test.current;
    const { id: environment } = await addSiteWithEnvironment();
    const later = new Date(Date.now() + 3_600_000);
    const orders = [{ url: "https://ca.example/1" }, { failures: 1 }, { failures: 2 }, { limited_until: later }];
    await addDomain(database, environment);
    for (const order of orders) {
      const domain_id = await addDomain(database, environment);
      await database
        .insertInto("certificate_orders")
        .values({ domain_id, directory: acmeUrl, ...order })
        .execute();
    }
    const metric = "sitewright_acme_orders";
    expect(await linesOf(metric)).toEqual([
      `${metric}{state="due"} 1`,
      `${metric}{state="under_way"} 1`,
      `${metric}{state="failing"} 2`,
      `${metric}{state="limited"} 1`,
    ]);
  });
});
