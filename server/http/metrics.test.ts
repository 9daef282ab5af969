import { randomUUID } from "node:crypto";
import { afterAll, describe, expect, it } from "vitest";
import { addCertificate } from "../store/domains/certificates.ts";
import { addOwnDomain } from "../store/testing/rows.ts";
import { acmeUrl, startTestServer, type TestServer, useTestServer } from "./testing/server.ts";

const test = useTestServer();
const token = "a token of sixteen".replaceAll(" ", "-");
const guarded = await startTestServer({ metricsToken: token });
afterAll(() => guarded[Symbol.asyncDispose]());

async function ask({ server }: TestServer, remoteAddress: string, headers: Readonly<Record<string, string>> = {}) {
  return server.inject({ method: "GET", url: "/metrics", remoteAddress, headers });
}

/** A domain that may have a certificate. */
async function addDomain(database: TestServer["database"], environmentId: string): Promise<string> {
  const id = await addOwnDomain(database, environmentId);
  const seen = { verified_at: new Date(), points_here_at: new Date() };
  await database.updateTable("domains").set(seen).where("id", "=", id).execute();
  return id;
}

describe("who reads /metrics", () => {
  it.each(["127.0.0.1", "127.9.9.9", "::1", "::ffff:127.0.0.1"])("this machine may: %s", async (address) => {
    const answer = await ask(test.current, address);
    expect(answer.statusCode).toBe(200);
    expect(answer.headers["content-type"]).toBe("text/plain; version=0.0.4; charset=utf-8");
    expect(answer.body).toMatch(/^process_cpu_seconds_total \d/m);
    expect(answer.body).toMatch(/^nodejs_eventloop_lag_seconds \d/m);
  });

  it.each(["203.0.113.7", "10.0.0.1", "2001:db8::1", "::ffff:10.0.0.1"])("others find nothing: %s", async (address) => {
    const answer = await ask(test.current, address);
    expect([answer.statusCode, JSON.parse(answer.body).data]).toEqual([404, null]);
    expect((await ask(test.current, address, { authorization: `Bearer ${token}` })).statusCode).toBe(404);
  });

  it.each(["x-forwarded-for", "forwarded", "x-real-ip", "via"])("nor does who comes by a proxy: %s", async (name) => {
    expect((await ask(test.current, "127.0.0.1", { [name]: "for=203.0.113.7" })).statusCode).toBe(404);
  });

  it("whoever has the token may, from anywhere; and nobody else, where there is one", async () => {
    for (const address of ["203.0.113.7", "127.0.0.1"]) {
      expect((await ask(guarded, address, { authorization: `Bearer ${token}` })).statusCode).toBe(200);
      for (const authorization of ["", `Bearer ${token}x`, "Bearer", `Basic ${token}`, token]) {
        const answer = await ask(guarded, address, { authorization });
        expect([answer.statusCode, answer.headers["www-authenticate"]]).toEqual([401, "Bearer"]);
      }
    }
  });

  it("answers to reading only, and is not part of the API", async () => {
    const { call } = test.current;
    const answer = await call("POST", "/metrics", { body: {} });
    expect([answer.status, answer.headers.allow]).toEqual([405, "GET, HEAD"]);
    expect((await call("GET", "/v2/metrics")).status).toBe(404);
  });
});

describe("what it says of certificates", () => {
  const linesOf = async (name: string) =>
    (await ask(test.current, "127.0.0.1")).body.split("\n").filter((line) => line.startsWith(`${name}{`));

  it("when each ends that a served domain has, by source", async () => {
    const { addEnvironment, addSite, company, database } = test.current;
    const { id: environmentId } = await addEnvironment(await addSite());
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

  it("how the orders stand", async () => {
    const { addEnvironment, addSite, database } = test.current;
    const { id: environment } = await addEnvironment(await addSite());
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
