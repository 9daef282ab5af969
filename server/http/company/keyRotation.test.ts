import { removeCompanyLimits, setCompanyLimits } from "@sitewright/server/store/company/companyLimits.ts";
import { describe, expect, it } from "vitest";
import { addKeyOf } from "../testing/roles.ts";
import { useTestServer } from "../testing/server.ts";

const test = useTestServer();
const keysPath = () => `/v2/company/${test.current.company.company_id}/api-keys`;
const statusOf = async (key: string) => (await test.current.call("GET", "/v2/validate", { key })).status;
const create = async (key: string, fields: object = {}) => {
  const { body } = await test.current.call("POST", keysPath(), { key, body: { name: "Child", ...fields } });
  return { id: String(body.api_key.id), token: String(body.token) };
};
const rotate = (id: string, key: string, body: object = {}) =>
  test.current.call("POST", `${keysPath()}/${id}/rotate`, { key, body });
const revoke = (id: string, query = "") => test.current.call("DELETE", `${keysPath()}/${id}${query}`);

describe("rotating a key", () => {
  it("creates a successor like it, next to which it stays valid for the overlap", async () => {
    const limits = {
      name: "Deploy",
      scopes: ["read", "keys"],
      allowed_addresses: ["127.0.0.0/8"],
      expires_at: "2099-01-01T00:00:00.000Z",
    };
    const old = await test.current.addKey(limits);
    const before = Date.now();
    const { status, body } = await rotate(old.id, old.token);
    expect(status).toBe(201);
    expect(body.api_key).toMatchObject({ ...limits, status: "active", replaced_by: null });
    expect(body.replaced_key).toMatchObject({ id: old.id, status: "active", replaced_by: body.api_key.id });
    const overlap = Date.parse(body.replaced_key.expires_at) - before;
    expect(overlap).toBeGreaterThanOrEqual(24 * 3_600_000);
    expect(overlap).toBeLessThan(25 * 3_600_000);
    expect([await statusOf(old.token), await statusOf(body.token)]).toEqual([200, 200]);
  });

  it("ends it at once without an overlap, and never extends it", async () => {
    const [one, other] = [await test.current.addKey({}), await test.current.addKey({})];
    const { body } = await rotate(one.id, one.token, { overlap_hours: 0 });
    expect([await statusOf(one.token), await statusOf(body.token)]).toEqual([401, 200]);
    const soon = new Date(Date.now() + 60_000);
    await test.current.database.updateTable("api_keys").set({ expires_at: soon }).where("id", "=", other.id).execute();
    const rotated = await rotate(other.id, other.token);
    expect(rotated.body.replaced_key.expires_at).toBe(soon.toISOString());
    expect(rotated.body.api_key.expires_at).toBe(soon.toISOString());
  });

  it("keeps the keys below it, which follow the successor", async () => {
    const old = await test.current.addKey({});
    const child = await create(old.token);
    const { body } = await rotate(old.id, old.token, { overlap_hours: 0 });
    expect(await statusOf(child.token)).toBe(200);
    await revoke(body.api_key.id);
    expect(await statusOf(child.token)).toBe(401);
  });

  it("leaves the successor below the keys above the old one", async () => {
    const parent = await test.current.addKey({});
    const child = await create(parent.token);
    const { body } = await rotate(child.id, child.token);
    expect(body.api_key.created_by).toBe(parent.id);
    await revoke(parent.id);
    expect(await statusOf(body.token)).toBe(401);
  });

  it("is allowed for the keys above it, and for no other, which would get its token", async () => {
    const parent = await test.current.addKey({});
    const child = await create(parent.token);
    const grandchild = await create(child.token, { scopes: ["keys"] });
    const sibling = await create(parent.token);
    expect((await rotate(child.id, sibling.token)).body.data).toEqual({ code: "key_not_below" });
    expect((await rotate(parent.id, child.token)).body.data).toEqual({ code: "key_not_below" });
    expect((await rotate(child.id, grandchild.token)).body.data).toEqual({ code: "key_not_below" });
    const developer = await addKeyOf(test.current, "developer");
    expect((await rotate(parent.id, developer.token)).status).toBe(403);
    expect((await rotate(grandchild.id, parent.token)).status).toBe(201);
  });

  it("is possible once, also for two requests at a time", async () => {
    const { id, token } = await test.current.addKey({});
    const answers = await Promise.all([rotate(id, token), rotate(id, token)]);
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 400]);
    const successor = answers.find(({ status }) => status === 201)?.body.api_key.id;
    const second = answers.find(({ status }) => status === 400)?.body.data;
    expect(second).toEqual({ code: "key_already_rotated", replaced_by: successor });
  });

  it("counts towards the company's limit during an overlap", async () => {
    const { addKey, company, database } = test.current;
    const { id, token } = await addKey({});
    await database.transaction().execute((open) => setCompanyLimits(open, company.company_id, { api_keys: 1 }));
    const refused = await rotate(id, token, { overlap_hours: 0.001 });
    const accepted = await rotate(id, token, { overlap_hours: 0 });
    await database.transaction().execute((open) => removeCompanyLimits(open, company.company_id));
    expect(refused.body.data).toMatchObject({ code: "company_limit_reached", limit: "api_keys" });
    expect(accepted.status).toBe(201);
  });

  it("is not possible for a revoked key", async () => {
    const parent = await test.current.addKey({});
    const child = await create(parent.token);
    await revoke(child.id);
    expect((await rotate(child.id, parent.token)).status).toBe(404);
  });
});

describe("revoking a rotated key", () => {
  it("also revokes the successors, which a thief may have made", async () => {
    const first = await test.current.addKey({});
    const second = (await rotate(first.id, first.token)).body;
    const third = (await rotate(second.api_key.id, second.token)).body;
    await revoke(first.id);
    expect([await statusOf(second.token), await statusOf(third.token)]).toEqual([401, 401]);
  });

  it("keeps the successor on request", async () => {
    const old = await test.current.addKey({});
    const { body } = await rotate(old.id, old.token);
    const child = await create(old.token);
    await revoke(old.id, "?keep_successor=true");
    const tokens = [old.token, body.token, child.token];
    expect(await Promise.all(tokens.map(statusOf))).toEqual([401, 200, 401]);
  });
});
