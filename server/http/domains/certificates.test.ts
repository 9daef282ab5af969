import { randomUUID } from "node:crypto";
import { describe, expect, it } from "vitest";
import { type Made, makeCertificate } from "../../certificates/testing/openssl.ts";
import { addCertificate } from "../../store/domains/certificates.ts";

import { addOwnDomain } from "../../store/testing/rows.ts";
import { acmeUrl, useTestServer } from "../testing/server.ts";

let published = 0;
const test = useTestServer({
  publishRoutes: async () => {
    published += 1;
  },
});

const hour = 3_600_000;
const day = 24 * hour;

/** A domain of an environment, which has what an order needs. */
async function addDomain(environmentId?: string, name = `d-${randomUUID()}.example`) {
  const { addEnvironment, addSite, database } = test.current;
  const environment = environmentId ?? (await addEnvironment(await addSite())).id;
  const id = await addOwnDomain(database, environment, { name });
  const seen = { verified_at: new Date(), points_here_at: new Date() };
  await database.updateTable("domains").set(seen).where("id", "=", id).execute();
  return { id, name, environment, path: `/v2/sites/environments/domains/${id}/certificate` };
}

const pairOf = ({ cert, key }: Made) => ({ custom_ssl_cert: cert, custom_ssl_key: key });

/** For some names; gives the answer. */
async function give(path: string, names: readonly string[]) {
  return test.current.call("PUT", path, { body: pairOf(await makeCertificate({ names, subject: "/CN=Own" })) });
}

async function stateAt(path: string) {
  return (await test.current.call("GET", path)).body.site_domain;
}

/** One from the authority. */
async function addOrdered(environmentId: string, name: string, notAfter: Date): Promise<void> {
  const { database } = test.current;
  const { cert: chain } = await makeCertificate({ names: [name], subject: "/CN=Ordered" });
  const id = randomUUID();
  const certificate = { names: [name], chain, notBefore: new Date(0), notAfter, fingerprint: id };
  const { company_id: companyId } = test.current.company;
  const facts = { id, companyId, environmentId, source: "acme", certificate, keySealed: Buffer.alloc(1) } as const;
  await database.transaction().execute((transaction) => addCertificate(transaction, facts));
}

const kept = async (environmentId: string) =>
  (
    await test.current.database
      .selectFrom("certificates")
      .select("names")
      .where("environment_id", "=", environmentId)
      .orderBy("created_at")
      .execute()
  ).map(({ names }) => names);

describe("GET /sites/environments/domains/{site_domain_id}/certificate", () => {
  it("tells of a domain without a certificate that one is ordered now", async () => {
    const { path } = await addDomain();
    const { certificate, order } = await stateAt(path);
    expect(certificate).toBeNull();
    expect(order).toMatchObject({ is_under_way: false, failures: 0, last_problem: null, limited_until: null });
    expect(order.next_try_at).toBeLessThanOrEqual(Date.now());
  });

  it("tells of one that does not point here that none is", async () => {
    const { id, path } = await addDomain();
    await test.current.database.updateTable("domains").set({ points_here_at: null }).where("id", "=", id).execute();
    expect(await stateAt(path)).toEqual({ certificate: null, order: null });
  });

  it("shows what the authority said, word for word, and until when it takes no more", async () => {
    const { id, path } = await addDomain();
    const [at, limited_until] = [new Date(Date.now() - hour), new Date(Date.now() + hour)];
    const last_error = 'The certificate authority has a limit. too many certificates (5) already issued for "x" \u00a7';
    const troubles = { last_error, last_error_at: at, failures: 2, limited_until, next_try_at: limited_until };
    await test.current.database
      .insertInto("certificate_orders")
      .values({ domain_id: id, directory: acmeUrl, url: "https://ca.example/order/1", ...troubles })
      .execute();
    expect((await stateAt(path)).order).toEqual({
      is_under_way: true,
      next_try_at: limited_until.getTime(),
      failures: 2,
      last_problem: { message: last_error, at: at.getTime() },
      limited_until: limited_until.getTime(),
    });
  });

  it("shows the authority's limit for everybody, while it lasts", async () => {
    const { path } = await addDomain();
    const { database } = test.current;
    const until = new Date(Date.now() + hour);
    const account = { directory: acmeUrl, key_sealed: Buffer.alloc(1), wait_until: until };
    await database.insertInto("acme_accounts").values(account).execute();
    expect((await stateAt(path)).order).toMatchObject({
      next_try_at: until.getTime(),
      limited_until: until.getTime(),
    });
    await database
      .updateTable("acme_accounts")
      .set({ wait_until: new Date(0) })
      .execute();
    expect((await stateAt(path)).order.limited_until).toBeNull();
  });

  it("tells when an ordered one is renewed: with about a third of its life left", async () => {
    const { environment, name, path } = await addDomain();
    const end = Date.now() + 30 * day;
    await addOrdered(environment, name, new Date(end));
    const { certificate, order } = await stateAt(path);
    expect(certificate).toMatchObject({ source: "acme", issuer: "CN=Ordered", not_after: end, is_served: true });
    expect(order.next_try_at / end).toBeGreaterThan(1 - 1 / 3 - 0.05 - 0.001);
    expect(order.next_try_at / end).toBeLessThanOrEqual(1 - 1 / 3);
  });

  it("still shows one that is over, and that it is not served", async () => {
    const { environment, name, path } = await addDomain();
    await addOrdered(environment, name, new Date(Date.now() - hour));
    expect((await stateAt(path)).certificate.is_served).toBe(false);
  });
});

describe("PUT /sites/environments/domains/{site_domain_id}/certificate", () => {
  it("is in force when it is answered, and never shows the key", async () => {
    const { environment, name, path } = await addDomain();
    const before = published;
    const made = await makeCertificate({ names: [name, `www.${name}`], subject: "/O=Ours/CN=Own" });
    const answer = await test.current.call("PUT", path, { body: pairOf(made) });
    expect(answer.status).toBe(200);
    expect(answer.body.site_domain.certificate).toEqual({
      source: "custom",
      names: [name, `www.${name}`],
      issuer: "O=Ours, CN=Own",
      fingerprint: expect.stringMatching(/^[0-9a-f]{64}$/),
      not_before: expect.any(Number),
      not_after: expect.any(Number),
      is_served: true,
    });
    expect(published).toBe(before + 1);
    expect(answer.text).not.toContain("PRIVATE KEY");
    expect(await stateAt(path)).toEqual(answer.body.site_domain);
    const rows = await test.current.database.selectFrom("certificates").selectAll().execute();
    const [row] = rows.filter(({ environment_id }) => environment_id === environment);
    expect(row?.key_sealed.includes("PRIVATE")).toBe(false);
  });

  it("replaces the one before, and comes before one that was ordered", async () => {
    const { environment, name, path } = await addDomain();
    await addOrdered(environment, name, new Date(Date.now() + 90 * day));
    const first = (await give(path, [name])).body.site_domain.certificate;
    const second = (await give(path, [name])).body.site_domain.certificate;
    expect(second.fingerprint).not.toBe(first.fingerprint);
    expect(second.source).toBe("custom");
    expect(await kept(environment)).toHaveLength(2);
  });

  it("leaves the one before to the other domains that it is for", async () => {
    const one = await addDomain();
    const two = await addDomain(one.environment);
    await give(one.path, [one.name, two.name]);
    const before = (await stateAt(two.path)).certificate;
    await give(one.path, [one.name]);
    expect(await kept(one.environment)).toEqual([[two.name], [one.name]]);
    expect((await stateAt(two.path)).certificate).toEqual(before);
    expect((await stateAt(one.path)).certificate.fingerprint).not.toBe(before.fingerprint);
    await give(one.path, [one.name, two.name]);
    expect(await kept(one.environment)).toEqual([[two.name], [one.name, two.name]]);
    expect((await stateAt(two.path)).certificate.fingerprint).not.toBe(before.fingerprint);
  });

  it("does the same with wildcards", async () => {
    const base = `d-${randomUUID()}.example`;
    const one = await addDomain(undefined, `a.${base}`);
    const two = await addDomain(one.environment, `b.${base}`);
    await give(one.path, [`*.${base}`]);
    await give(one.path, [`a.${base}`]);
    expect(await kept(one.environment)).toEqual([[`*.${base}`], [`a.${base}`]]);
    expect((await stateAt(one.path)).certificate.names).toEqual([`a.${base}`]);
    await give(two.path, [`*.${base}`]);
    expect(await kept(one.environment)).toEqual([[`a.${base}`], [`*.${base}`]]);
    await give(one.path, [`*.${base}`]);
    expect(await kept(one.environment)).toEqual([[`*.${base}`]]);
  });

  it("is refused where it is not for the domain, and changes nothing", async () => {
    const { name, path } = await addDomain();
    await give(path, [name]);
    const before = await stateAt(path);
    const answer = await give(path, ["other.example"]);
    expect([answer.status, answer.body.data]).toEqual([
      400,
      { code: "custom_certificate_refused", field: "custom_ssl_cert" },
    ]);
    expect(answer.body.message).toBe(
      `custom_ssl_cert is not for ${name}, but for other.example. Send a certificate for ${name}.`,
    );
    expect(await stateAt(path)).toEqual(before);
  });

  it("is refused where the key is another's, without a word of it", async () => {
    const { name, path } = await addDomain();
    const [one, other] = [await makeCertificate({ names: [name] }), await makeCertificate({ names: [name] })];
    const body = { custom_ssl_cert: one.cert, custom_ssl_key: other.key };
    const answer = await test.current.call("PUT", path, { body });
    expect(answer.body.data).toEqual({ code: "custom_certificate_refused", field: "custom_ssl_key" });
    expect(answer.text).not.toContain("BEGIN");
  });

  it.each([
    [{}, ["/custom_ssl_cert", "/custom_ssl_key"]],
    [{ custom_ssl_key: "x" }, ["/custom_ssl_cert"]],
    [{ custom_ssl_cert: "x" }, ["/custom_ssl_key"]],
    [{ custom_ssl_cert: "", custom_ssl_key: 1 }, ["/custom_ssl_cert", "/custom_ssl_key"]],
    [{ custom_ssl_cert: "a\u0000", custom_ssl_key: "x" }, ["/custom_ssl_cert"]],
    [{ custom_ssl_cert: "x".repeat(65_537), custom_ssl_key: "x" }, ["/custom_ssl_cert"]],
  ])("malformed: %o", async (body, paths) => {
    const { path } = await addDomain();
    const answer = await test.current.call("PUT", path, { body });
    expect(answer.body).toMatchObject({ status: 400, message: "Bad request format" });
    const found = new Set(answer.body.data.errors.map((error: { path: string }) => error.path));
    expect([...found].toSorted()).toEqual(paths);
  });

  it("is done once for one Idempotency-Key", async () => {
    const { environment, name, path } = await addDomain();
    const body = pairOf(await makeCertificate({ names: [name] }));
    const asked = { body, headers: { "idempotency-key": randomUUID() } };
    const first = await test.current.call("PUT", path, asked);
    const again = await test.current.call("PUT", path, asked);
    expect(again.headers["idempotency-replayed"]).toBe("true");
    expect(again.text).toBe(first.text);
    expect(await kept(environment)).toHaveLength(1);
    expect(
      JSON.stringify(await test.current.database.selectFrom("idempotency_keys").selectAll().execute()),
    ).not.toMatch(/BEGIN/);
  });

  it("of many at once leaves one", async () => {
    const { environment, name, path } = await addDomain();
    const answers = await Promise.all(Array.from({ length: 6 }, () => give(path, [name])));
    expect(answers.map(({ status }) => status)).toEqual(Array(6).fill(200));
    expect(await kept(environment)).toHaveLength(1);
  });

  it("is not for a key that must not change live environments, where it is one", async () => {
    const { addEnvironment, addKey, addSite, call } = test.current;
    const { liveId } = await addEnvironment(await addSite());
    const { name, path } = await addDomain(liveId);
    const { token } = await addKey({ scopes: ["non-live"] });
    const body = pairOf(await makeCertificate({ names: [name] }));
    expect((await call("PUT", path, { body, key: token })).body.data.needs).toBe("live");
    expect((await call("DELETE", path, { key: token })).body.data.needs).toBe("live");
    expect((await call("GET", path, { key: token })).status).toBe(200);
  });
});

describe("DELETE /sites/environments/domains/{site_domain_id}/certificate", () => {
  it("takes it out of force, and what was ordered follows", async () => {
    const { environment, name, path } = await addDomain();
    await addOrdered(environment, name, new Date(Date.now() + 90 * day));
    await give(path, [name]);
    const before = published;
    const answer = await test.current.call("DELETE", path);
    expect(answer.body.site_domain.certificate).toMatchObject({ source: "acme", is_served: true });
    expect(published).toBe(before + 1);
  });

  it("has one ordered at once where there is none, whatever was waited for before", async () => {
    const { id, name, path } = await addDomain();
    await give(path, [name]);
    const next_try_at = new Date(Date.now() + 6 * hour);
    const { database } = test.current;
    await database.insertInto("certificate_orders").values({ domain_id: id, next_try_at, failures: 3 }).execute();
    const { certificate, order } = (await test.current.call("DELETE", path)).body.site_domain;
    expect(certificate).toBeNull();
    expect(order.next_try_at).toBeLessThanOrEqual(Date.now());
  });

  it("does not hurry an authority that has a limit", async () => {
    const { id, name, path } = await addDomain();
    await give(path, [name]);
    const later = new Date(Date.now() + 6 * hour);
    const { database } = test.current;
    await database
      .insertInto("certificate_orders")
      .values({ domain_id: id, next_try_at: later, limited_until: later })
      .execute();
    expect((await test.current.call("DELETE", path)).body.site_domain.order.next_try_at).toBe(later.getTime());
  });

  it("is noted once, and does nothing where there is none", async () => {
    const { call, company } = test.current;
    const { name, path } = await addDomain();
    await give(path, [name]);
    for (const _ of [1, 2]) expect((await call("DELETE", path)).status).toBe(200);
    const log = await call("GET", `/v2/company/${company.company_id}/activity-logs?limit=3`);
    const { items } = log.body.company.activity_logs;
    expect(items.map(({ type }: { type: string }) => type).slice(0, 2)).toEqual([
      "removeCertificate",
      "replaceCertificate",
    ]);
    expect(items[0]).toMatchObject({ is_done: true, has_failed: false });
    expect(items[0].descriptions[0]).toContain(name);
  });
});
