/** Signing in with a password, and what a session may do. */
import { randomUUID } from "node:crypto";
import { insertSession } from "@sitewright/server/store/company/sessions.ts";
import { describe, expect, it } from "vitest";
import { anotherAddress, chosen, cookieOf, ownPage, peopleOf } from "../testing/people.ts";
import { useTestServer } from "../testing/server.ts";

const test = useTestServer();
const people = peopleOf(test);

describe("signing in", () => {
  it("starts a session, which says who has signed in where", async () => {
    const email = await people.add();
    const userAgent = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0";
    const answer = await people.trySignIn(email.toUpperCase(), {
      address: "198.51.100.200",
      headers: { "user-agent": userAgent },
    });
    expect(answer.status).toBe(201);
    expect(answer.headers["cache-control"]).toBe("no-store");
    const { session, user, company, must_change_password } = answer.body;
    expect(session).toMatchObject({ is_current: true, ip_address: "198.51.100.200", browser_name: "Firefox" });
    expect(Date.parse(session.expires_at) - Date.parse(session.created_at)).toBeGreaterThan(13 * 86_400_000);
    expect(user).toMatchObject({ email, full_name: "Grace Hopper", role: "owner" });
    expect(company).toEqual({ id: test.current.company.company_id, name: "Ours" });
    expect(must_change_password).toBe(false);
    const { body } = await people.call(cookieOf(answer), "GET", "/session");
    expect(body).toMatchObject({ user, company, session: { id: session.id } });
  });

  it("sets a cookie that scripts can't read, and that other sites' pages don't send", async () => {
    const { headers } = await people.trySignIn(await people.add());
    expect(headers["set-cookie"]).toMatch(
      /^sitewright=ss_[0-9a-f]{32}_[\w-]{43}; Max-Age=1209600; Path=\/; HttpOnly; SameSite=Strict$/,
    );
  });

  it("sets a cookie over HTTPS that only HTTPS pages of this host can set, and accepts no other one there", async () => {
    const https = { "x-forwarded-proto": "https" };
    const answer = await people.trySignIn(await people.add(), { headers: https });
    expect(answer.headers["set-cookie"]).toMatch(/^__Host-sitewright=ss_.*; HttpOnly; Secure; SameSite=Strict$/);
    const cookie = cookieOf(answer);
    expect((await people.call(cookie, "GET", "/session", { headers: https })).status).toBe(200);
    const planted = cookie.replace("__Host-", "");
    expect((await people.call(planted, "GET", "/session", { headers: https })).status).toBe(401);
  });

  it("gives the same answer for a wrong password and an unknown e-mail address", async () => {
    const wrong = await people.trySignIn(await people.add(), { password: "not the password" });
    const unknown = await people.trySignIn("nobody@example.com");
    expect(wrong.status).toBe(400);
    expect(wrong.body.data).toEqual({ code: "wrong_credentials" });
    expect(unknown.text).toBe(wrong.text);
    expect(wrong.headers["set-cookie"]).toBeUndefined();
  });

  it("makes the next attempt wait after five wrong passwords from a network, also if the last one is right", async () => {
    const email = await people.add();
    const address = anotherAddress();
    for (let attempt = 0; attempt < 5; attempt += 1) {
      expect((await people.trySignIn(email, { password: "wrong", address })).body.data.code).toBe("wrong_credentials");
    }
    const refused = await people.trySignIn(email, { address });
    expect(refused.status).toBe(400);
    expect(refused.body.data).toEqual({ code: "too_many_sign_ins", seconds: 30 });
    expect(refused.body.message).toContain("Try again in 30 seconds.");
    const elsewhere = await people.trySignIn(email);
    expect(elsewhere.status, "from another network").toBe(201);
  });

  it("counts attempts of one moment one after another", async () => {
    const email = await people.add();
    const address = anotherAddress();
    const attempts = Array.from({ length: 12 }, () => people.trySignIn(email, { password: "wrong", address }));
    const codes = (await Promise.all(attempts)).map(({ body }) => body.data.code);
    expect(codes.filter((code) => code === "wrong_credentials")).toHaveLength(5);
  });

  it("makes unknown e-mail addresses wait like known ones", async () => {
    const address = anotherAddress();
    for (let attempt = 0; attempt < 5; attempt += 1) await people.trySignIn("nobody2@example.com", { address });
    expect((await people.trySignIn("nobody2@example.com", { address })).body.data.code).toBe("too_many_sign_ins");
  });

  it("makes a network wait after thirty wrong passwords for different addresses", async () => {
    const address = anotherAddress();
    for (let attempt = 0; attempt < 30; attempt += 1) await people.trySignIn(`n${attempt}@example.com`, { address });
    expect((await people.trySignIn(await people.add(), { address })).body.data.code).toBe("too_many_sign_ins");
  });

  it("forgets wrong passwords after a right one", async () => {
    const email = await people.add();
    const address = anotherAddress();
    for (let round = 0; round < 3; round += 1) {
      for (let attempt = 0; attempt < 3; attempt += 1) await people.trySignIn(email, { password: "wrong", address });
      expect((await people.trySignIn(email, { address })).status).toBe(201);
    }
  });

  it("is in the activity log, with its user and without a key; so are wrong passwords", async () => {
    const email = await people.add();
    await people.trySignIn(email, { password: "wrong", address: "198.51.100.201" });
    await people.signIn(email, { address: "198.51.100.201" });
    expect(await people.activityOf(email)).toMatchObject([
      { type: "signIn", has_failed: true, public_error: "The password was wrong.", ip_address: "198.51.100.201" },
      { type: "signIn", has_failed: false, api_key_info: null, initiated_by: { full_name: "Grace Hopper" } },
    ]);
  });

  it.each([
    [{ "sec-fetch-site": "cross-site" }],
    [{ "sec-fetch-site": "same-site" }],
    [{ origin: "https://evil.example" }],
  ])("can't be done by a page of somebody else: %j", async (headers) => {
    const answer = await people.trySignIn(await people.add(), { headers });
    expect(answer.status).toBe(403);
    expect(answer.body.data).toEqual({ code: "cross_site_request" });
  });

  it.each([
    [{}, "/email"],
    [{ email: "a@example.com" }, "/password"],
    [{ email: 1, password: "x" }, "/email"],
    [{ email: "a@example.com", password: "x".repeat(201) }, "/password"],
    [{ email: "", password: "x" }, "/email"],
  ])("rejects %j at %s", async (body, path) => {
    const answer = await test.current.call("POST", "/v2/sessions", { body, key: null });
    expect(answer.status).toBe(400);
    expect(answer.body.data.errors.map((fault: { path: string }) => fault.path)).toContain(path);
  });
});

describe("a session", () => {
  it("makes calls with its user's role, which the activity log attributes to the person", async () => {
    const email = await people.add({ role: "admin" });
    const cookie = await people.signIn(email);
    const { company_id } = test.current.company;
    const created = await people.call(cookie, "POST", `/company/${company_id}/api-keys`, { body: { name: "Mine" } });
    expect(created.status).toBe(201);
    expect(created.body.api_key.created_by).toBe(null);
    const [entry] = await people.activityOf(email);
    expect(entry).toMatchObject({ type: "createApiKey", api_key_info: null, initiated_by: { role: "admin" } });
  });

  it("may do no more than its user's role allows", async () => {
    const cookie = await people.signIn(await people.add({ role: "billing" }));
    const { company_id } = test.current.company;
    const answer = await people.call(cookie, "POST", `/company/${company_id}/api-keys`, { body: { name: "Mine" } });
    expect(answer.body.data).toEqual({ code: "scope_missing", needs: "role:developer" });
  });

  it("finds nothing of other companies", async () => {
    const cookie = await people.signIn(await people.add());
    const { company_id } = test.current.otherCompany;
    expect((await people.call(cookie, "GET", `/company/${company_id}/users`)).status).toBe(404);
  });

  it.each([
    ["of another site's page", { "sec-fetch-site": "cross-site" }],
    ["of a page on another port of this host", { "sec-fetch-site": "same-site" }],
    ["with another page's origin", { origin: "http://localhost:8081" }],
    ["of no page", {}],
    ["that a person has typed as an address", { "sec-fetch-site": "none" }],
  ])("changes nothing for requests %s", async (_, headers) => {
    const cookie = await people.signIn(await people.add());
    const { company_id } = test.current.company;
    const answer = await people.call(cookie, "POST", `/company/${company_id}/api-keys`, {
      body: { name: "X" },
      headers,
    });
    expect(answer.status).toBe(403);
    expect(answer.body.data).toEqual({ code: "cross_site_request" });
  });

  it("accepts pages of browsers that send only their origin", async () => {
    const cookie = await people.signIn(await people.add());
    const headers = { host: "127.0.0.1:8080", origin: "http://127.0.0.1:8080" };
    expect((await people.call(cookie, "DELETE", "/session", { headers })).status).toBe(200);
  });

  it("is no API key, and an API key is no session", async () => {
    const { company, call } = test.current;
    const cookie = await people.signIn(await people.add());
    const token = cookie.slice("sitewright=".length);
    for (const key of [token, token.replace("ss_", "sk_")]) {
      expect((await call("GET", "/v2/validate", { key })).status).toBe(401);
    }
    expect((await people.call(`sitewright=${company.api_key}`, "GET", "/validate")).status).toBe(401);
    const { status, body } = await call("GET", "/v2/session");
    expect({ status, data: body.data }).toEqual({ status: 403, data: { code: "scope_missing", needs: "session" } });
  });

  it("is not found if a request has two cookies of its name: one may be forged", async () => {
    const [own, other] = [await people.signIn(await people.add()), await people.signIn(await people.add())];
    expect((await people.call(`${other}; ${own}`, "GET", "/session")).status).toBe(401);
  });

  it("does not count as an API key, and is not listed or changed as one", async () => {
    const cookie = await people.signIn(await people.add());
    const { id } = (await people.call(cookie, "GET", "/session")).body.session;
    const keys = `/company/${test.current.company.company_id}/api-keys`;
    const { api_keys } = (await people.call(cookie, "GET", keys)).body;
    expect(api_keys.map((key: { id: string }) => key.id)).not.toContain(id);
    expect((await people.call(cookie, "DELETE", `${keys}/${id}`)).status).toBe(404);
    expect((await people.call(cookie, "POST", `${keys}/${id}/rotate`, { body: {} })).status).toBe(404);
    const { body } = await people.call(cookie, "GET", `/company/${test.current.company.company_id}/limits`);
    const active = api_keys.filter((key: { status: string }) => key.status === "active");
    expect(body.company.use.api_keys).toBe(active.length);
  });

  it("can rotate keys of its own user, but not of others, whose tokens it would learn", async () => {
    const cookie = await people.signIn(await people.add());
    const keys = `/company/${test.current.company.company_id}/api-keys`;
    const own = (await people.call(cookie, "POST", keys, { body: { name: "Mine" } })).body.api_key;
    const { id: foreign } = await test.current.addKey({});
    expect((await people.call(cookie, "POST", `${keys}/${own.id}/rotate`, { body: {} })).status).toBe(201);
    const refused = await people.call(cookie, "POST", `${keys}/${foreign}/rotate`, { body: {} });
    expect(refused.body.data).toEqual({ code: "key_not_below" });
  });

  it("answers a repeated Idempotency-Key once", async () => {
    const cookie = await people.signIn(await people.add());
    const keys = `/company/${test.current.company.company_id}/api-keys`;
    const options = { body: { name: "Once" }, headers: { ...ownPage, "idempotency-key": randomUUID() } };
    const first = await people.call(cookie, "POST", keys, options);
    const second = await people.call(cookie, "POST", keys, options);
    expect(second.text).toBe(first.text);
    expect(second.headers["idempotency-replayed"]).toBe("true");
  });

  it("ends with the sign-out, which removes the cookie; a stolen copy is refused", async () => {
    const cookie = await people.signIn(await people.add());
    const answer = await people.call(cookie, "DELETE", "/session");
    expect(answer.status).toBe(200);
    expect(answer.headers["set-cookie"]).toMatch(/^sitewright=; Max-Age=0; Path=\/; HttpOnly; SameSite=Strict$/);
    expect((await people.call(cookie, "GET", "/session")).status).toBe(401);
  });

  it("ends after two weeks, or three days without use", async () => {
    const { database, identities } = test.current;
    for (const age of [{ expires_at: new Date(0) }, { created_at: new Date(Date.now() - 73 * 3_600_000) }]) {
      const cookie = await people.signIn(await people.add());
      const { id } = (await people.call(cookie, "GET", "/session")).body.session;
      await database
        .updateTable("api_keys")
        .set({ ...age, last_used_at: null })
        .where("id", "=", id)
        .execute();
      identities.forgetKeys();
      expect((await people.call(cookie, "GET", "/session")).status).toBe(401);
    }
  });

  it("keeps a key that was created in it valid after its end", async () => {
    const cookie = await people.signIn(await people.add());
    const keys = `/company/${test.current.company.company_id}/api-keys`;
    const { token } = (await people.call(cookie, "POST", keys, { body: { name: "Stays" } })).body;
    await people.call(cookie, "DELETE", "/session");
    expect((await test.current.call("GET", "/v2/validate", { key: token })).status).toBe(200);
  });
});

const sessionOf = (userId: string, { company_id }: { readonly company_id: string }) => ({
  id: randomUUID(),
  secretHash: Buffer.alloc(32),
  companyId: company_id,
  userId,
  expiresAt: new Date(Date.now() + 60_000),
  ipAddress: null,
  browserName: null,
  osName: null,
});

describe("the sessions of a user", () => {
  it("are listed, newest first, and can be ended one by one", async () => {
    const email = await people.add();
    const older = await people.signIn(email);
    const newer = await people.signIn(email);
    const { sessions } = (await people.call(newer, "GET", "/sessions")).body;
    expect(sessions.map((session: { is_current: boolean }) => session.is_current)).toEqual([true, false]);
    const { id } = sessions[1];
    expect((await people.call(newer, "DELETE", `/sessions/${id}`)).body.session).toMatchObject({
      id,
      is_current: false,
    });
    expect((await people.call(older, "GET", "/session")).status).toBe(401);
    expect((await people.call(newer, "DELETE", `/sessions/${id}`)).status).toBe(404);
    expect((await people.activityOf(email))[0]).toMatchObject({ type: "endSession" });
  });

  it("can be ended at once, except the present one", async () => {
    const email = await people.add();
    const others = [await people.signIn(email), await people.signIn(email)];
    const own = await people.signIn(email);
    expect((await people.call(own, "DELETE", "/sessions")).body.sessions).toHaveLength(2);
    for (const other of others) expect((await people.call(other, "GET", "/session")).status).toBe(401);
    expect((await people.call(own, "GET", "/session")).status).toBe(200);
  });

  it("are nobody else's: their ids are unknown", async () => {
    const victim = await people.signIn(await people.add());
    const { id } = (await people.call(victim, "GET", "/session")).body.session;
    const other = await people.signIn(await people.add());
    for (const unknown of [id, randomUUID(), "1"]) {
      expect((await people.call(other, "DELETE", `/sessions/${unknown}`)).status).toBe(404);
    }
    expect((await people.call(victim, "GET", "/session")).status).toBe(200);
  });

  it("are fifty at most: the oldest one ends", async () => {
    const email = await people.add();
    const first = await people.signIn(email);
    const { database, company } = test.current;
    const { id: userId } = (await people.call(first, "GET", "/session")).body.user;
    await database.transaction().execute(async (transaction) => {
      for (let count = 0; count < 49; count += 1) await insertSession(transaction, sessionOf(userId, company), 50);
    });
    expect((await people.call(first, "GET", "/session")).status).toBe(200);
    await people.signIn(email);
    expect((await people.call(first, "GET", "/session")).status).toBe(401);
  });
});

describe("changing the password", () => {
  const change = (cookie: string, new_password: string, current_password = chosen) =>
    people.call(cookie, "PUT", "/session/password", { body: { current_password, new_password } });

  it("ends the user's other sessions, and keeps this one", async () => {
    const email = await people.add();
    const other = await people.signIn(email);
    const cookie = await people.signIn(email);
    const password = "green umbrella whispers loudly";
    const answer = await change(cookie, password);
    expect(answer.status).toBe(200);
    expect(answer.body).toMatchObject({ must_change_password: false, user: { email } });
    expect((await people.call(other, "GET", "/session")).status).toBe(401);
    expect((await people.call(cookie, "GET", "/session")).status).toBe(200);
    expect((await people.trySignIn(email)).status).toBe(400);
    expect((await people.trySignIn(email, { password })).status).toBe(201);
    const types = (await people.activityOf(email)).map(({ type }) => type);
    expect(types).toContain("changePassword");
  });

  it("comes first for a generated password: other calls are refused until then", async () => {
    const cookie = await people.signIn(await people.add({ mustChange: true }));
    const { company_id } = test.current.company;
    expect((await people.call(cookie, "GET", "/session")).body.must_change_password).toBe(true);
    for (const path of [`/company/${company_id}/users`, "/validate"]) {
      const refused = await people.call(cookie, "GET", path);
      expect(refused.status).toBe(403);
      expect(refused.body).toMatchObject({
        message: "Choose a new password first: PUT /v2/session/password.",
        data: { code: "password_change_required" },
      });
    }
    expect((await change(cookie, "green umbrella whispers loudly")).status).toBe(200);
    expect((await people.call(cookie, "GET", `/company/${company_id}/users`)).status).toBe(200);
  });

  it.each([
    ["a common one", "password1234"],
    ["a row of keys", "qwertyuiop[]"],
    ["one from a breach", "iloveyou1234"],
    ["a repetition", "aaaaaaaaaaaaaaaa"],
    ["the user's name", "gracehopper1"],
    ["the present one", chosen],
  ])("refuses %s", async (_, password) => {
    const answer = await change(await people.signIn(await people.add()), password);
    expect(answer.status).toBe(400);
    expect(answer.body.data).toEqual({ code: "password_too_weak" });
  });

  it("refuses fewer than twelve characters", async () => {
    const { status, body } = await change(await people.signIn(await people.add()), "kX9$vQ2#mL7");
    expect(status).toBe(400);
    expect(body.data.errors).toEqual([{ path: "/new_password", message: "must be at least 12 characters long" }]);
  });

  it("is carried out after a wait, also with the Idempotency-Key that was told to wait", async () => {
    const cookie = await people.signIn(await people.add());
    for (let attempt = 0; attempt < 5; attempt += 1) await change(cookie, "green umbrella whispers loudly", "wrong");
    const body = { current_password: chosen, new_password: "green umbrella whispers loudly" };
    const options = { body, headers: { ...ownPage, "idempotency-key": "a" } };
    const early = await people.call(cookie, "PUT", "/session/password", options);
    expect(early.body.data.code).toBe("too_many_sign_ins");
    const { database } = test.current;
    await database
      .updateTable("sign_in_failures")
      .set({ last_at: new Date(Date.now() - 60_000) })
      .execute();
    expect((await people.call(cookie, "PUT", "/session/password", options)).status).toBe(200);
  });

  it("needs the present password, and counts wrong ones like wrong sign-ins", async () => {
    const cookie = await people.signIn(await people.add());
    const codes = [];
    for (let attempt = 0; attempt < 6; attempt += 1) {
      codes.push((await change(cookie, "green umbrella whispers loudly", "wrong")).body.data.code);
    }
    expect(codes).toEqual([...Array.from({ length: 5 }, () => "wrong_credentials"), "too_many_sign_ins"]);
  });
});
