import { randomUUID } from "node:crypto";
import { describe, expect, it } from "vitest";
import { makeCertificate, type TestCertificate } from "../../certificates/testing/openssl.ts";
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

/** Adds a verified domain that points here, so that a certificate can be ordered for it. */
async function addDomain(environmentId?: string, name = `d-${randomUUID()}.example`) {
  const { addSiteWithEnvironment, database } = test.current;
  const environment = environmentId ?? (await addSiteWithEnvironment()).id;
  const id = await addOwnDomain(database, environment, { name });
  const seen = { verified_at: new Date(), points_here_at: new Date() };
  await database.updateTable("domains").set(seen).where("id", "=", id).execute();
  return { id, name, environment, path: `/v2/sites/environments/domains/${id}/certificate` };
}

const pairOf = ({ cert, key }: TestCertificate) => ({ custom_ssl_cert: cert, custom_ssl_key: key });

/** Uploads a new custom certificate for these names. */
async function upload(path: string, names: readonly string[]) {
  return test.current.call("PUT", path, { body: pairOf(await makeCertificate({ names, subject: "/CN=Own" })) });
}

async function stateAt(path: string) {
  return (await test.current.call("GET", path)).body.site_domain;
}

/** Adds an ordered certificate. */
async function addOrdered(environmentId: string, name: string, notAfter: Date): Promise<void> {
  const { database } = test.current;
  const { cert: chain } = await makeCertificate({ names: [name], subject: "/CN=Ordered" });
  const id = randomUUID();
  const certificate = { names: [name], chain, notBefore: new Date(0), notAfter, fingerprint: id };
  const { company_id: companyId } = test.current.company;
  const facts = { id, companyId, environmentId, source: "acme", certificate, keySealed: Buffer.alloc(1) } as const;
  await database.transaction().execute((transaction) => addCertificate(transaction, facts));
}

const namesOfCertificates = async (environmentId: string) =>
  (
    await test.current.database
      .selectFrom("certificates")
      .select("names")
      .where("environment_id", "=", environmentId)
      .orderBy("created_at")
      .execute()
  ).map(({ names }) => names);

describe("GET /sites/environments/domains/{site_domain_id}/certificate", () => {
  it("shows that a certificate is due for a domain without one", async () => {
    const { path } = await addDomain();
    const { certificate, order } = await stateAt(path);
    expect(certificate).toBeNull();
    expect(order).toMatchObject({ is_under_way: false, failures: 0, last_problem: null, limited_until: null });
    expect(order.next_try_at).toBeLessThanOrEqual(Date.now());
  });

  it("has no order for a domain that does not point here", async () => {
    const { id, path } = await addDomain();
    await test.current.database.updateTable("domains").set({ points_here_at: null }).where("id", "=", id).execute();
    expect(await stateAt(path)).toEqual({ certificate: null, order: null });
  });

  it("has the authority's error word for word, and its rate limit", async () => {
    const { id, path } = await addDomain();
    const [at, limited_until] = [new Date(Date.now() - hour), new Date(Date.now() + hour)];
    const last_error = 'The certificate authority has a limit. too many certificates (5) already issued for "x" \u00a7';
    const failure = { last_error, last_error_at: at, failures: 2, limited_until, next_try_at: limited_until };
    await test.current.database
      .insertInto("certificate_orders")
      .values({ domain_id: id, directory: acmeUrl, url: "https://ca.example/order/1", ...failure })
      .execute();
    expect((await stateAt(path)).order).toEqual({
      is_under_way: true,
      next_try_at: limited_until.getTime(),
      failures: 2,
      last_problem: { message: last_error, at: at.getTime() },
      limited_until: limited_until.getTime(),
    });
  });

  it("has the authority's rate limit for the whole account until it ends", async () => {
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

  it("has the renewal date of an ordered certificate: with about a third of its validity left", async () => {
    const { environment, name, path } = await addDomain();
    const end = Date.now() + 30 * day;
    await addOrdered(environment, name, new Date(end));
    const { certificate, order } = await stateAt(path);
    expect(certificate).toMatchObject({ source: "acme", issuer: "CN=Ordered", not_after: end, is_served: true });
    expect(order.next_try_at / end).toBeGreaterThan(1 - 1 / 3 - 0.05 - 0.001);
    expect(order.next_try_at / end).toBeLessThanOrEqual(1 - 1 / 3);
  });

  it("has an expired certificate too, marked as not served", async () => {
    const { environment, name, path } = await addDomain();
    await addOrdered(environment, name, new Date(Date.now() - hour));
    expect((await stateAt(path)).certificate.is_served).toBe(false);
  });
});

describe("PUT /sites/environments/domains/{site_domain_id}/certificate", () => {
  it("is in force when the call returns, and never returns the key", async () => {
    const { environment, name, path } = await addDomain();
    const before = published;
    const pair = await makeCertificate({ names: [name, `www.${name}`], subject: "/O=Ours/CN=Own" });
    const answer = await test.current.call("PUT", path, { body: pairOf(pair) });
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

  it("replaces the earlier custom certificate, and takes precedence over an ordered one", async () => {
    const { environment, name, path } = await addDomain();
    await addOrdered(environment, name, new Date(Date.now() + 90 * day));
    const first = (await upload(path, [name])).body.site_domain.certificate;
    const second = (await upload(path, [name])).body.site_domain.certificate;
    expect(second.fingerprint).not.toBe(first.fingerprint);
    expect(second.source).toBe("custom");
    expect(await namesOfCertificates(environment)).toHaveLength(2);
  });

  it("keeps the earlier certificate for other domains that it covers", async () => {
    const one = await addDomain();
    const two = await addDomain(one.environment);
    await upload(one.path, [one.name, two.name]);
    const before = (await stateAt(two.path)).certificate;
    await upload(one.path, [one.name]);
    expect(await namesOfCertificates(one.environment)).toEqual([[two.name], [one.name]]);
    expect((await stateAt(two.path)).certificate).toEqual(before);
    expect((await stateAt(one.path)).certificate.fingerprint).not.toBe(before.fingerprint);
    await upload(one.path, [one.name, two.name]);
    expect(await namesOfCertificates(one.environment)).toEqual([[two.name], [one.name, two.name]]);
    expect((await stateAt(two.path)).certificate.fingerprint).not.toBe(before.fingerprint);
  });

  it("does so with wildcards too", async () => {
    const base = `d-${randomUUID()}.example`;
    const one = await addDomain(undefined, `a.${base}`);
    const two = await addDomain(one.environment, `b.${base}`);
    await upload(one.path, [`*.${base}`]);
    await upload(one.path, [`a.${base}`]);
    expect(await namesOfCertificates(one.environment)).toEqual([[`*.${base}`], [`a.${base}`]]);
    expect((await stateAt(one.path)).certificate.names).toEqual([`a.${base}`]);
    await upload(two.path, [`*.${base}`]);
    expect(await namesOfCertificates(one.environment)).toEqual([[`a.${base}`], [`*.${base}`]]);
    await upload(one.path, [`*.${base}`]);
    expect(await namesOfCertificates(one.environment)).toEqual([[`*.${base}`]]);
  });

  it("is refused if it does not cover the domain, and changes nothing", async () => {
    const { name, path } = await addDomain();
    await upload(path, [name]);
    const before = await stateAt(path);
    const answer = await upload(path, ["other.example"]);
    expect([answer.status, answer.body.data]).toEqual([
      400,
      { code: "custom_certificate_refused", field: "custom_ssl_cert" },
    ]);
    expect(answer.body.message).toBe(
      `custom_ssl_cert is not for ${name}, but for other.example. Send a certificate for ${name}.`,
    );
    expect(await stateAt(path)).toEqual(before);
  });

  it("is refused if the key does not match, without revealing it", async () => {
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
  ])("is refused as malformed: %o", async (body, paths) => {
    const { path } = await addDomain();
    const answer = await test.current.call("PUT", path, { body });
    expect(answer.body).toMatchObject({ status: 400, message: "Bad request format" });
    const found = new Set(answer.body.data.errors.map((error: { path: string }) => error.path));
    expect([...found].toSorted()).toEqual(paths);
  });

  it("is carried out once per Idempotency-Key", async () => {
    const { environment, name, path } = await addDomain();
    const body = pairOf(await makeCertificate({ names: [name] }));
    const options = { body, headers: { "idempotency-key": randomUUID() } };
    const first = await test.current.call("PUT", path, options);
    const again = await test.current.call("PUT", path, options);
    expect(again.headers["idempotency-replayed"]).toBe("true");
    expect(again.text).toBe(first.text);
    expect(await namesOfCertificates(environment)).toHaveLength(1);
    expect(
      JSON.stringify(await test.current.database.selectFrom("idempotency_keys").selectAll().execute()),
    ).not.toMatch(/BEGIN/);
  });

  it("leaves one certificate after several simultaneous calls", async () => {
    const { environment, name, path } = await addDomain();
    const answers = await Promise.all(Array.from({ length: 6 }, () => upload(path, [name])));
    expect(answers.map(({ status }) => status)).toEqual(Array(6).fill(200));
    expect(await namesOfCertificates(environment)).toHaveLength(1);
  });

  it("is forbidden for non-live keys in the live environment", async () => {
    const { addKey, addSiteWithEnvironment, call } = test.current;
    const { liveId } = await addSiteWithEnvironment();
    const { name, path } = await addDomain(liveId);
    const { token } = await addKey({ scopes: ["non-live"] });
    const body = pairOf(await makeCertificate({ names: [name] }));
    expect((await call("PUT", path, { body, key: token })).body.data.needs).toBe("live");
    expect((await call("DELETE", path, { key: token })).body.data.needs).toBe("live");
    expect((await call("GET", path, { key: token })).status).toBe(200);
  });
});

describe("DELETE /sites/environments/domains/{site_domain_id}/certificate", () => {
  it("takes effect at once, and an ordered certificate is used instead", async () => {
    const { environment, name, path } = await addDomain();
    await addOrdered(environment, name, new Date(Date.now() + 90 * day));
    await upload(path, [name]);
    const before = published;
    const answer = await test.current.call("DELETE", path);
    expect(answer.body.site_domain.certificate).toMatchObject({ source: "acme", is_served: true });
    expect(published).toBe(before + 1);
  });

  it("orders a certificate at once if there is none, ignoring earlier back-off", async () => {
    const { id, name, path } = await addDomain();
    await upload(path, [name]);
    const next_try_at = new Date(Date.now() + 6 * hour);
    const { database } = test.current;
    await database.insertInto("certificate_orders").values({ domain_id: id, next_try_at, failures: 3 }).execute();
    const { certificate, order } = (await test.current.call("DELETE", path)).body.site_domain;
    expect(certificate).toBeNull();
    expect(order.next_try_at).toBeLessThanOrEqual(Date.now());
  });

  it("respects the authority's rate limit", async () => {
    const { id, name, path } = await addDomain();
    await upload(path, [name]);
    const later = new Date(Date.now() + 6 * hour);
    const { database } = test.current;
    await database
      .insertInto("certificate_orders")
      .values({ domain_id: id, next_try_at: later, limited_until: later })
      .execute();
    expect((await test.current.call("DELETE", path)).body.site_domain.order.next_try_at).toBe(later.getTime());
  });

  it("is recorded once, and does nothing without a custom certificate", async () => {
    const { call, company } = test.current;
    const { name, path } = await addDomain();
    await upload(path, [name]);
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
