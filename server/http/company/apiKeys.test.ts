import type { Role } from "@sitewright/contract/endpoint.ts";
import { describe, expect, it } from "vitest";
import { addKeyOf } from "../testing/roles.ts";
import { useTestServer } from "../testing/server.ts";

const test = useTestServer();
const keysPath = () => `/v2/company/${test.current.company.company_id}/api-keys`;

const keyOf = (role: Role) => addKeyOf(test.current, role);

describe("a new key", () => {
  it("is returned with its token once, works at once, and is stored as a hash", async () => {
    const { call, database } = test.current;
    const answer = await call("POST", keysPath(), { body: { name: "Deploy" } });
    expect(answer.status).toBe(201);
    expect(answer.body).toEqual({
      api_key: {
        id: expect.stringMatching(/^[0-9a-f-]{36}$/),
        name: "Deploy",
        status: "active",
        expires_at: null,
        created_by: expect.stringMatching(/^[0-9a-f-]{36}$/),
        replaced_by: null,
        last_used_at: null,
        allowed_addresses: null,
        scopes: null,
      },
      token: expect.stringMatching(/^sk_[0-9a-f]{32}_[A-Za-z0-9_-]{43}$/),
    });
    expect((await call("GET", "/v2/validate", { key: answer.body.token })).body.name).toBe("Deploy");
    const row = await database
      .selectFrom("api_keys")
      .selectAll()
      .where("id", "=", answer.body.api_key.id)
      .executeTakeFirstOrThrow();
    // The secret may contain underscores, so the token is not split; its last 40 characters are unique enough.
    expect(JSON.stringify(row)).not.toContain(answer.body.token.slice(-40));
    expect(row.secret_hash).toHaveLength(32);
  });

  it("expires to the millisecond", async () => {
    const { call, database, identities } = test.current;
    const expiresAt = "2099-01-02T03:04:05.678Z";
    const { body } = await call("POST", keysPath(), { body: { name: "Until", expires_at: expiresAt } });
    expect(body.api_key.expires_at).toBe(expiresAt);
    const validated = await call("GET", "/v2/validate", { key: body.token });
    expect(validated.body.expires_at).toBe(String(Date.parse(expiresAt)));
    await database.updateTable("api_keys").set({ expires_at: new Date() }).where("id", "=", body.api_key.id).execute();
    identities.forgetKeys();
    expect((await call("GET", "/v2/validate", { key: body.token })).status).toBe(401);
  });

  it.each([
    ["9999-12-31T23:59:60Z", "9999-12-31T23:59:59.999Z"],
    ["2098-12-31T18:59:60.5-05:00", "2098-12-31T23:59:59.999Z"],
    ["2099-01-01T00:00:00+05", "2098-12-31T19:00:00.000Z"],
  ])("normalises the expiry %s to %s", async (requested, normalised) => {
    const { body } = await test.current.call("POST", keysPath(), { body: { name: "Until", expires_at: requested } });
    expect(body.api_key.expires_at).toBe(normalised);
  });

  it.each([
    [{ name: "" }, "/name"],
    [{ name: 1 }, "/name"],
    [{ name: "a\0b" }, "/name"],
    [{ name: "x".repeat(101) }, "/name"],
    [{}, "/name"],
    [{ name: "x", expires_at: "tomorrow" }, "/expires_at"],
    [{ name: "x", expires_at: 1 }, "/expires_at"],
    [{ name: "x", expires_at: "2027-02-30T00:00:00Z" }, "/expires_at"],
    [{ name: "x", scopes: [] }, "/scopes"],
    [{ name: "x", scopes: "read" }, "/scopes"],
    [{ name: "x", scopes: ["all"] }, "/scopes/0"],
    [{ name: "x", scopes: ["read", "site:1"] }, "/scopes/1"],
  ])("is refused with an invalid field: %j", async (body, path) => {
    const answer = await test.current.call("POST", keysPath(), { body });
    expect(answer.status).toBe(400);
    expect(answer.body.data.errors.map((fault: { path: string }) => fault.path)).toEqual([path]);
  });

  it("is refused if its expiry is in the past, or if it names another company's site", async () => {
    const { addSite, call, otherCompany } = test.current;
    const past = await call("POST", keysPath(), { body: { name: "x", expires_at: "2020-01-01T00:00:00Z" } });
    expect(past.body.data.code).toBe("expiry_in_the_past");
    const foreign = await addSite({}, otherCompany.api_key);
    const answer = await call("POST", keysPath(), { body: { name: "x", scopes: [`site:${foreign}`] } });
    expect(answer.body.data).toEqual({ code: "unknown_site_scope", unknown: [foreign] });
  });

  it("can't have more permissions than the calling key", async () => {
    const { addKey, call } = test.current;
    const { token } = await addKey({ scopes: ["keys", "non-live"] });
    const more = await call("POST", keysPath(), { body: { name: "x", scopes: ["keys", "delete"] }, key: token });
    expect(more.body.data).toEqual({ code: "scope_missing", needs: "delete" });
    const same = await call("POST", keysPath(), { body: { name: "x" }, key: token });
    expect(same.body.api_key.scopes).toEqual(["keys", "non-live"]);
  });

  it("needs the scope keys, and no other", async () => {
    const { addKey, call } = test.current;
    const { token: others } = await addKey({ scopes: ["read", "write", "delete", "push"] });
    const refused = await call("POST", keysPath(), { body: { name: "x" }, key: others });
    expect(refused.body.data).toEqual({ code: "scope_missing", needs: "keys" });
    const { token: keys } = await addKey({ scopes: ["keys"] });
    const { body } = await call("POST", keysPath(), { body: { name: "x" }, key: keys });
    expect(body.api_key.scopes).toEqual(["keys"]);
    expect((await call("DELETE", `${keysPath()}/${body.api_key.id}`, { key: others })).status).toBe(403);
    expect((await call("DELETE", `${keysPath()}/${body.api_key.id}`, { key: keys })).status).toBe(200);
  });
});

describe("a key with keys and other scopes, but not delete", () => {
  const revoke = (id: string, key: string) => test.current.call("DELETE", `${keysPath()}/${id}`, { key });

  it.each([["read"], ["write"], ["push"]])(
    "such as %s, changes and revokes only itself and the keys below it",
    async (scope) => {
      const { addKey, call } = test.current;
      const [limited, other] = [await addKey({ scopes: [scope, "keys"] }), await addKey({})];
      const refusal = { code: "scope_missing", needs: "delete" };
      expect((await revoke(other.id, limited.token)).body.data).toEqual(refusal);
      const body = { allowed_addresses: ["203.0.113.7"] };
      const path = `${keysPath()}/${other.id}/allowed-addresses`;
      expect((await call("PUT", path, { key: limited.token, body })).body.data).toEqual(refusal);
      const child = (await call("POST", keysPath(), { key: limited.token, body: { name: "Child" } })).body.api_key;
      expect((await revoke(child.id, limited.token)).status).toBe(200);
      expect((await revoke(limited.id, limited.token)).status).toBe(200);
      const stronger = await addKey({ scopes: [scope, "delete", "keys"] });
      expect((await revoke(other.id, stronger.token)).status).toBe(200);
    },
  );

  it("can't create a key with keys alone, which manages all keys", async () => {
    const { addKey, call } = test.current;
    const { token } = await addKey({ scopes: ["write", "keys"] });
    const create = (scopes: string[]) => call("POST", keysPath(), { key: token, body: { name: "x", scopes } });
    expect((await create(["keys"])).body.data).toEqual({ code: "scope_missing", needs: "delete" });
    expect((await create(["write", "keys"])).status).toBe(201);
    expect((await create(["write"])).status).toBe(201);
  });
});

describe("a key that was created with another", () => {
  const create = async (key: string, fields: object = {}) => {
    const answer = await test.current.call("POST", keysPath(), { key, body: { name: "Child", ...fields } });
    return { status: answer.status, id: answer.body.api_key?.id, token: answer.body.token, key: answer.body.api_key };
  };
  const statusOf = async (key: string) => (await test.current.call("GET", "/v2/validate", { key })).status;

  it("is revoked with it, however many keys lie between", async () => {
    const parent = await test.current.addKey({});
    const child = await create(parent.token);
    const grandchild = await create(child.token);
    const sibling = await test.current.addKey({});
    await test.current.call("DELETE", `${keysPath()}/${parent.id}`);
    const keys = [parent.token, child.token, grandchild.token, sibling.token];
    expect(await Promise.all(keys.map(statusOf))).toEqual([401, 401, 401, 200]);
  });

  it("is never usable if it was created while the other was being revoked", async () => {
    const parent = await test.current.addKey({});
    const [, ...created] = await Promise.all([
      test.current.call("DELETE", `${keysPath()}/${parent.id}`),
      ...Array.from({ length: 20 }, () => create(parent.token)),
    ]);
    const tokens = created.flatMap(({ token }) => token ?? []);
    expect(await Promise.all(tokens.map(statusOf))).toEqual(tokens.map(() => 401));
  });

  it("expires with it at the latest", async () => {
    const parent = await test.current.addKey({ expires_at: "2099-01-01T00:00:00.000Z" });
    const expiry = async (fields: object) => (await create(parent.token, fields)).key.expires_at;
    expect(await expiry({})).toBe("2099-01-01T00:00:00.000Z");
    expect(await expiry({ expires_at: "2100-01-01T00:00:00Z" })).toBe("2099-01-01T00:00:00.000Z");
    expect(await expiry({ expires_at: "2098-01-01T00:00:00Z" })).toBe("2098-01-01T00:00:00.000Z");
  });
});

describe("the list of keys", () => {
  it("has all keys of the company, newest first, with status and without token", async () => {
    const { addKey, call, company, database } = test.current;
    const expired = await addKey({ name: "Expired", expires_at: "2099-01-01T00:00:00Z" });
    await database
      .updateTable("api_keys")
      .set({ expires_at: new Date(0) })
      .where("id", "=", expired.id)
      .execute();
    const revoked = await addKey({ name: "Revoked" });
    await call("DELETE", `${keysPath()}/${revoked.id}`);
    const { body, text } = await call("GET", keysPath());
    const unused = {
      created_by: body.api_keys.at(-1).id,
      replaced_by: null,
      last_used_at: null,
      allowed_addresses: null,
    };
    expect(body.api_keys.slice(0, 2)).toEqual([
      { id: revoked.id, name: "Revoked", status: "revoked", expires_at: null, ...unused },
      { id: expired.id, name: "Expired", status: "expired", expires_at: "1970-01-01T00:00:00.000Z", ...unused },
    ]);
    expect(body.api_keys.at(-1)).toMatchObject({ name: "First key", status: "active" });
    expect(text).not.toContain(company.api_key);
  });

  it("has only the user's own keys for a developer", async () => {
    const { call } = test.current;
    const developer = await keyOf("developer");
    const { body } = await call("GET", keysPath(), { key: developer.token });
    expect(body.api_keys.map(({ id }: { id: string }) => id)).toEqual([developer.id]);
  });
});

describe("revoking a key", () => {
  it("takes effect at once, and repeating it changes nothing", async () => {
    const { addKey, call, database } = test.current;
    const { id, token } = await addKey({ name: "Leaked" });
    const first = await call("DELETE", `${keysPath()}/${id}`);
    expect(first.body).toMatchObject({
      api_key: { id, name: "Leaked", status: "revoked", scopes: null },
    });
    expect((await call("GET", "/v2/validate", { key: token })).status).toBe(401);
    const revokedAt = () =>
      database.selectFrom("api_keys").select("revoked_at").where("id", "=", id).executeTakeFirst();
    const before = await revokedAt();
    expect((await call("DELETE", `${keysPath()}/${id}`)).text).toBe(first.text);
    expect(await revokedAt()).toEqual(before);
  });

  it("of another user needs the role admin", async () => {
    const { addKey, call } = test.current;
    const developer = await keyOf("developer");
    const admin = await keyOf("admin");
    const { id } = await addKey({});
    const refused = await call("DELETE", `${keysPath()}/${id}`, { key: developer.token });
    expect(refused.body.data).toEqual({ code: "scope_missing", needs: "role:admin" });
    expect((await call("DELETE", `${keysPath()}/${id}`, { key: admin.token })).status).toBe(200);
    expect((await call("DELETE", `${keysPath()}/${developer.id}`, { key: developer.token })).status).toBe(200);
  });
});

describe("roles and restricted keys", () => {
  it("let admins delete sites, but not developers", async () => {
    const { addSite, call } = test.current;
    const id = await addSite();
    const developer = await keyOf("developer");
    const refused = await call("DELETE", `/v2/sites/${id}`, { key: developer.token });
    expect(refused.status).toBe(403);
    expect(refused.body.data).toEqual({ code: "scope_missing", needs: "role:admin" });
    const { token } = await keyOf("admin");
    expect((await call("DELETE", `/v2/sites/${id}`, { key: token })).status).toBe(202);
  });

  it("show a key for one site only that site", async () => {
    const { addKey, addSite, call, company } = test.current;
    const [mine, other] = [await addSite(), await addSite()];
    const { token: key } = await addKey({ scopes: [`site:${mine.toUpperCase()}`] });
    const { body } = await call("GET", "/v2/sites", { key });
    expect(body.company.sites.map(({ id }: { id: string }) => id)).toEqual([mine]);
    expect((await call("GET", `/v2/sites/${mine}`, { key })).status).toBe(200);
    const refused = await call("GET", `/v2/sites/${other}`, { key });
    expect(refused.status).toBe(403);
    expect(refused.body.data.needs).toBe(`site:${other}`);
    const log = await call("GET", `/v2/company/${company.company_id}/activity-logs`, { key });
    const about = log.body.company.activity_logs.items.map((item: { site_id: string }) => item.site_id);
    expect(new Set(about)).toEqual(new Set([mine]));
    expect(log.body.company.activity_logs.total).toBe(about.length);
  });

  it("forbid non-live keys to delete a site", async () => {
    const { addKey, addSite, call } = test.current;
    const { token: key } = await addKey({ scopes: ["non-live"] });
    const refused = await call("DELETE", `/v2/sites/${await addSite()}`, { key });
    expect(refused.body.data).toEqual({ code: "scope_missing", needs: "live" });
  });
});
