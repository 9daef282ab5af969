import { randomUUID } from "node:crypto";
import { describe, expect, it } from "vitest";
import { anotherAddress, chosen, cookieOf, peopleOf } from "../testing/people.ts";
import { type Reply, useTestServer } from "../testing/server.ts";

const test = useTestServer();
const people = peopleOf(test);
const password = "seven purple tractors sing";

const path = (more = "") => `/company/${test.current.company.company_id}/invitations${more}`;
const newEmail = () => `${randomUUID()}@example.com`;

/** Invites somebody as the owner of the company. Returns the token in the link. */
async function invite(fields: Readonly<Record<string, unknown>> = {}): Promise<{ token: string; id: string }> {
  const answer = await test.current.call("POST", `/v2${path()}`, {
    body: { email: newEmail(), role: "developer", ...fields },
  });
  expect(answer.status).toBe(201);
  return { token: String(answer.body.url).split("#")[1] ?? "", id: answer.body.invitation.id };
}

function accept(token: string, fields: Readonly<Record<string, unknown>> = {}): Promise<Reply> {
  return test.current.call("POST", "/v2/invitations/accept", {
    body: { token, full_name: "Ada King Lovelace", password, ...fields },
    key: null,
    headers: { "x-forwarded-for": anotherAddress() },
  });
}

const check = (token: string) =>
  test.current.call("POST", "/v2/invitations/check", { body: { token }, key: null, headers: {} });

describe("an invitation", () => {
  it("has a link, with which the person becomes a user and is signed in", async () => {
    const email = newEmail();
    const { token, id } = await invite({ email });
    expect((await check(token)).body.invitation).toMatchObject({ email, role: "developer", company_name: "Ours" });
    const accepted = await accept(token);
    expect(accepted.status).toBe(201);
    expect(accepted.body).toMatchObject({
      user: { email, full_name: "Ada King Lovelace", first_name: "Ada", role: "developer", site_ids: null },
      must_change_password: false,
    });
    expect((await people.call(cookieOf(accepted), "GET", "/session")).body.user.email).toBe(email);
    expect((await people.trySignIn(email, { password })).status).toBe(201);
    const types = (await people.activityOf(email)).map(({ type }) => type);
    expect(types).toEqual(["signIn", "signIn", "acceptInvitation"]);
    const { invitations } = (await test.current.call("GET", `/v2${path()}`)).body;
    expect(invitations.map((invitation: { id: string }) => invitation.id)).not.toContain(id);
  });

  it("is listed with its inviter and without its secret", async () => {
    const owner = await people.signIn(await people.add());
    const { user } = (await people.call(owner, "GET", "/session")).body;
    const email = newEmail();
    await people.call(owner, "POST", path(), { body: { email, role: "viewer" } });
    const { body, text } = await people.call(owner, "GET", path());
    expect(body.invitations[0]).toMatchObject({ email, role: "viewer", site_ids: null, invited_by: user.id });
    expect(text).not.toContain("si_");
  });

  it("can be accepted once, also by two at once", async () => {
    const { token } = await invite();
    const answers = await Promise.all([accept(token), accept(token)]);
    expect(answers.map(({ status }) => status).toSorted()).toEqual([201, 400]);
    expect((await accept(token)).body.data).toEqual({ code: "invitation_unusable" });
  });

  it("is refused once it is withdrawn, replaced or expired, or its inviter was removed", async () => {
    const withdrawn = await invite();
    expect((await test.current.call("DELETE", `/v2${path(`/${withdrawn.id}`)}`)).status).toBe(200);
    const email = newEmail();
    const replaced = await invite({ email });
    await invite({ email: email.toUpperCase() });
    const expired = await invite();
    await test.current.database
      .updateTable("invitations")
      .set({ expires_at: new Date(0) })
      .where("id", "=", expired.id)
      .execute();
    const admin = await people.signIn(await people.add({ role: "admin" }));
    const ofRemoved = await people.call(admin, "POST", path(), { body: { email: newEmail(), role: "admin" } });
    const { id } = (await people.call(admin, "GET", "/session")).body.user;
    await test.current.call("DELETE", `/v2/company/${test.current.company.company_id}/users/${id}`);
    const tokens = [withdrawn.token, replaced.token, expired.token, ofRemoved.body.url.split("#")[1]];
    for (const token of [...tokens, "x", `si_${"0".repeat(32)}_${"x".repeat(43)}`]) {
      expect((await check(token)).body.data).toEqual({ code: "invitation_unusable" });
      expect((await accept(token)).body.data).toEqual({ code: "invitation_unusable" });
    }
  });

  it("can't be sent to a user's address, in any case", async () => {
    const email = await people.add({ companyId: test.current.otherCompany.company_id });
    const answer = await test.current.call("POST", `/v2${path()}`, {
      body: { email: email.toUpperCase(), role: "viewer" },
    });
    expect(answer.body.data).toEqual({ code: "user_exists" });
  });

  it("can't be accepted with a weak password, and stays open", async () => {
    const { token } = await invite();
    expect((await accept(token, { password: "password1234" })).body.data).toEqual({ code: "password_too_weak" });
    expect((await accept(token, { password: "short" })).body.data.errors[0].path).toBe("/password");
    expect((await accept(token)).status).toBe(201);
  });

  it("may name sites for roles that don't have all of them", async () => {
    const site = await test.current.addSite();
    const { token } = await invite({ role: "viewer", site_ids: [site] });
    expect((await accept(token)).body.user.site_ids).toEqual([site]);
    const refused = await test.current.call("POST", `/v2${path()}`, {
      body: { email: newEmail(), role: "admin", site_ids: [site] },
    });
    expect(refused.body.data).toEqual({ code: "needs_all_sites" });
    const foreign = await test.current.addSite({}, test.current.otherCompany.api_key);
    const unknown = await test.current.call("POST", `/v2${path()}`, {
      body: { email: newEmail(), role: "viewer", site_ids: [foreign] },
    });
    expect(unknown.body.data).toEqual({ code: "unknown_site", unknown: [foreign] });
  });

  it("of an owner can be sent by owners only, and invitations by owners and admins only", async () => {
    const as = async (role: "admin" | "developer" | "viewer", invited: string) => {
      const cookie = await people.signIn(await people.add({ role }));
      return people.call(cookie, "POST", path(), { body: { email: newEmail(), role: invited } });
    };
    expect((await as("admin", "owner")).body.data).toEqual({ code: "scope_missing", needs: "role:owner" });
    expect((await as("admin", "admin")).status).toBe(201);
    for (const role of ["developer", "viewer"] as const) {
      expect((await as(role, "viewer")).body.data).toEqual({ code: "scope_missing", needs: "role:admin" });
    }
  });
});

describe("an invitation of an owner", () => {
  it("can be withdrawn or replaced by owners only", async () => {
    const email = newEmail();
    const { id, token } = await invite({ email, role: "owner" });
    const admin = await people.signIn(await people.add({ role: "admin" }));
    const needsOwner = { code: "scope_missing", needs: "role:owner" };
    expect((await people.call(admin, "DELETE", path(`/${id}`))).body.data).toEqual(needsOwner);
    const body = { email, role: "viewer" };
    expect((await people.call(admin, "POST", path(), { body })).body.data).toEqual(needsOwner);
    expect((await check(token)).status).toBe(200);
  });

  it("ends when the owner who sent it gets another role", async () => {
    const owner = await people.signIn(await people.add());
    const { id } = (await people.call(owner, "GET", "/session")).body.user;
    const { body } = await people.call(owner, "POST", path(), { body: { email: newEmail(), role: "owner" } });
    const users = `/v2/company/${test.current.company.company_id}/users/${id}`;
    await test.current.call("PUT", users, { body: { role: "viewer", site_ids: null } });
    expect((await check(body.url.split("#")[1])).body.data).toEqual({ code: "invitation_unusable" });
  });
});

it("a key with scopes needs the scope for users to invite or remove somebody", async () => {
  const { token } = await test.current.addKey({ scopes: ["non-live"] });
  const body = { email: newEmail(), role: "admin" };
  const refused = await test.current.call("POST", `/v2${path()}`, { body, key: token });
  expect(refused.body.data).toEqual({ code: "scope_missing", needs: "users" });
});

describe("a user's role and sites", () => {
  const usersPath = (id: string) => `/company/${test.current.company.company_id}/users/${id}`;

  async function signedIn(person: Parameters<typeof people.add>[0]) {
    const email = await people.add(person);
    const cookie = await people.signIn(email);
    const { id } = (await people.call(cookie, "GET", "/session")).body.user;
    return { email, cookie, id: String(id) };
  }

  it("are in force at once for sessions and keys", async () => {
    const { id, cookie } = await signedIn({ role: "developer" });
    const keys = `/company/${test.current.company.company_id}/api-keys`;
    const { token } = (await people.call(cookie, "POST", keys, { body: { name: "Mine" } })).body;
    const body = { role: "viewer", site_ids: null };
    expect((await test.current.call("PUT", `/v2${usersPath(id)}`, { body })).body.user.role).toBe("viewer");
    expect((await people.call(cookie, "POST", keys, { body: { name: "Another" } })).status).toBe(403);
    expect((await test.current.call("POST", `/v2${keys}`, { body: { name: "Another" }, key: token })).status).toBe(403);
  });

  it("are read again when a change begins, because they may have been taken away while its body arrived", async () => {
    const { id, cookie } = await signedIn({ role: "owner" });
    const { database } = test.current;
    // Without a notification, this process takes the user for an owner for a moment.
    await database.updateTable("users").set({ role: "admin" }).where("id", "=", id).execute();
    const body = { role: "owner", site_ids: null };
    const refused = await people.call(cookie, "PUT", usersPath(id), { body });
    expect(refused.body.data).toEqual({ code: "scope_missing", needs: "role:owner" });
  });

  it("hide all other sites: they don't exist for a client with one site", async () => {
    const { addSiteWithEnvironment, call, company } = test.current;
    const [own, other] = [await addSiteWithEnvironment(), await addSiteWithEnvironment()];
    const { cookie, email } = await signedIn({ role: "developer", siteIds: [own.siteId] });
    expect((await people.call(cookie, "GET", `/sites/${own.siteId}`)).status).toBe(200);
    expect((await people.call(cookie, "GET", `/sites/${other.siteId}`)).status).toBe(404);
    expect((await people.call(cookie, "GET", `/sites/environments/${other.id}/limits`)).status).toBe(404);
    const { sites } = (await people.call(cookie, "GET", `/sites?company=${company.company_id}`)).body.company;
    expect(sites.map((site: { id: string }) => site.id)).toEqual([own.siteId]);
    for (const closed of ["users", "api-keys", "invitations"]) {
      const answer = await people.call(cookie, "GET", `/company/${company.company_id}/${closed}`);
      expect({ closed, status: answer.status }).toEqual({ closed, status: 403 });
    }
    const body = { environment_id: other.id };
    expect((await people.call(cookie, "POST", "/sites/tools/clear-cache", { body })).status).toBe(404);
    const log = await people.call(cookie, "GET", `/company/${company.company_id}/activity-logs?limit=100`);
    const seen = new Set(log.body.company.activity_logs.items.map((entry: { site_id: string }) => entry.site_id));
    expect([...seen]).toEqual([own.siteId]);
    expect((await call("GET", `/v2/sites/${other.siteId}`)).status).toBe(200);
    expect(email).toContain("@");
  });

  it("bound the keys of the user, whatever their scopes say", async () => {
    const [own, other] = [await test.current.addSite(), await test.current.addSite()];
    const { cookie, id } = await signedIn({ role: "developer" });
    const keys = `/company/${test.current.company.company_id}/api-keys`;
    const scopes = [`site:${own}`, `site:${other}`];
    const { token } = (await people.call(cookie, "POST", keys, { body: { name: "Mine", scopes } })).body;
    const body = { role: "developer", site_ids: [own] };
    expect((await test.current.call("PUT", `/v2${usersPath(id)}`, { body })).status).toBe(200);
    expect((await test.current.call("GET", `/v2/sites/${own}`, { key: token })).status).toBe(200);
    expect((await test.current.call("GET", `/v2/sites/${other}`, { key: token })).status).toBe(404);
  });

  it("of owners are changed by owners only, and the last owner stays one", async () => {
    const admin = await signedIn({ role: "admin" });
    const owner = await signedIn({ role: "owner" });
    const body = { role: "admin", site_ids: null };
    const needsOwner = { code: "scope_missing", needs: "role:owner" };
    expect((await people.call(admin.cookie, "PUT", usersPath(owner.id), { body })).body.data).toEqual(needsOwner);
    expect((await people.call(admin.cookie, "DELETE", usersPath(owner.id))).body.data).toEqual(needsOwner);
    const promotion = { role: "owner", site_ids: null };
    expect((await people.call(admin.cookie, "PUT", usersPath(admin.id), { body: promotion })).body.data).toEqual(
      needsOwner,
    );
    const { company_id, api_key: key } = test.current.otherCompany;
    const { body: listed } = await test.current.call("GET", `/v2/company/${company_id}/users`, { key });
    const only = `/v2/company/${company_id}/users/${listed.company.users[0].user.id}`;
    const others = listed.company.users.slice(1).map(({ user }: { user: { role: string } }) => user.role);
    for (const { user } of listed.company.users.slice(1)) {
      await test.current.call("DELETE", `/v2/company/${company_id}/users/${user.id}`, { key });
    }
    expect((await test.current.call("DELETE", only, { key })).body.data, others).toEqual({ code: "last_owner" });
    expect((await test.current.call("PUT", only, { key, body })).body.data).toEqual({ code: "last_owner" });
  });

  it("end with the user: sessions, keys and keys below those are refused", async () => {
    const { id, cookie, email } = await signedIn({ role: "developer" });
    const keys = `/company/${test.current.company.company_id}/api-keys`;
    const { token } = (await people.call(cookie, "POST", keys, { body: { name: "Mine" } })).body;
    const below = (await test.current.call("POST", `/v2${keys}`, { body: { name: "Below" }, key: token })).body.token;
    expect((await test.current.call("DELETE", `/v2${usersPath(id)}`)).body.user.email).toBe(email);
    expect((await people.call(cookie, "GET", "/session")).status).toBe(401);
    for (const key of [token, below])
      expect((await test.current.call("GET", "/v2/validate", { key })).status).toBe(401);
    expect((await people.trySignIn(email, { password: chosen })).body.data.code).toBe("wrong_credentials");
    expect((await test.current.call("DELETE", `/v2${usersPath(id)}`)).status).toBe(404);
  });
});
