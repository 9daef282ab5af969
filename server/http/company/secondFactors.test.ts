/** Codes of an authenticator app as a second factor: added, needed to sign in, lost, and required by a company. */
import { isDeepStrictEqual } from "node:util";
import { Secret, TOTP } from "otpauth";
import { describe, expect, it } from "vitest";
import { anotherAddress, chosen, cookieOf, peopleOf } from "../testing/people.ts";
import { type Reply, useTestServer } from "../testing/server.ts";

const test = useTestServer();
const people = peopleOf(test);
const path = "/session/second-factor";
const password = { current_password: chosen };
const noFactor = { since: null, app_since: null, passkeys: [] };

/** The code of the app. `steps`: how many steps of 30 seconds from now. */
const codeOf = (secret: string, steps = 0): string =>
  TOTP.generate({ secret: Secret.fromBase32(secret), timestamp: Date.now() + steps * 30_000 });

/** Adds a second factor to the user of the session. */
async function enrol(cookie: string): Promise<{ readonly secret: string; readonly codes: readonly string[] }> {
  const { secret } = (await people.call(cookie, "POST", path, { body: password })).body;
  const { status, body } = await people.call(cookie, "PUT", path, { body: { code: codeOf(secret) } });
  expect(status).toBe(200);
  return { secret, codes: body.recovery_codes };
}

/** Adds a person with a second factor. */
async function addEnrolled(role: "owner" | "admin" | "viewer" = "owner") {
  const email = await people.add({ role });
  const cookie = await people.signIn(email);
  return { email, cookie, ...(await enrol(cookie)) };
}

function trySignIn(email: string, code?: string, { address = anotherAddress(), secret = chosen } = {}): Promise<Reply> {
  return test.current.call("POST", "/v2/sessions", {
    body: { email, password: secret, ...(code !== undefined && { code }) },
    key: null,
    headers: { "x-forwarded-for": address },
  });
}

const refusalOf = ({ status, body }: Reply) => [status, body.data?.code];

async function userIdOf(email: string): Promise<string> {
  const query = test.current.database.selectFrom("users").select("id").where("email", "=", email);
  return (await query.executeTakeFirstOrThrow()).id;
}

describe("adding a second factor", () => {
  it("needs the password and a code, ends the other sessions, and is shown", async () => {
    const email = await people.add();
    const cookie = await people.signIn(email);
    const other = await people.signIn(email);
    const none = { second_factor: { ...noFactor, recovery_codes_left: 0, is_required: false } };
    expect((await people.call(cookie, "GET", path)).body).toEqual(none);
    const wrong = await people.call(cookie, "POST", path, { body: { current_password: "wrong" } });
    expect(refusalOf(wrong)).toEqual([400, "wrong_credentials"]);
    const begun = await people.call(cookie, "POST", path, { body: password });
    expect(begun.status).toBe(201);
    expect(begun.body.uri).toContain(`secret=${begun.body.secret}`);
    expect((await people.call(cookie, "GET", path)).body).toEqual(none);
    expect((await trySignIn(email)).status, "before it is confirmed").toBe(201);
    const refused = await people.call(cookie, "PUT", path, { body: { code: codeOf(begun.body.secret, -5) } });
    expect(refusalOf(refused)).toEqual([400, "wrong_code"]);
    const { body } = await people.call(cookie, "PUT", path, { body: { code: codeOf(begun.body.secret) } });
    expect(body.recovery_codes).toHaveLength(10);
    expect(new Set(body.recovery_codes).size).toBe(10);
    const { second_factor } = (await people.call(cookie, "GET", path)).body;
    expect(second_factor).toEqual({
      since: expect.any(String),
      app_since: expect.any(String),
      passkeys: [],
      recovery_codes_left: 10,
      is_required: false,
    });
    expect((await people.call(cookie, "GET", "/session")).body.has_second_factor).toBe(true);
    expect((await people.call(other, "GET", "/session")).status).toBe(401);
    const users = (await people.call(cookie, "GET", `/company/${test.current.company.company_id}/users`)).body.company
      .users;
    const listed = users.find(({ user }: { user: { email: string } }) => user.email === email);
    expect(listed.has_second_factor).toBe(true);
  });

  it("can be begun again, with another secret, but not if there is one", async () => {
    const cookie = await people.signIn(await people.add());
    expect(refusalOf(await people.call(cookie, "PUT", path, { body: { code: "123456" } }))).toEqual([
      400,
      "second_factor_not_begun",
    ]);
    const first = (await people.call(cookie, "POST", path, { body: password })).body.secret;
    await enrol(cookie);
    const again = await people.call(cookie, "POST", path, { body: password });
    expect(refusalOf(again)).toEqual([400, "second_factor_exists"]);
    const confirmed = await people.call(cookie, "PUT", path, { body: { code: codeOf(first) } });
    expect(refusalOf(confirmed)).toEqual([400, "second_factor_exists"]);
  });

  it("stores neither the secret nor the recovery codes in plain text", async () => {
    const { email, secret, codes } = await addEnrolled();
    const { database } = test.current;
    const id = await userIdOf(email);
    const user = await database.selectFrom("users").selectAll().where("id", "=", id).executeTakeFirstOrThrow();
    const hashes = await database.selectFrom("recovery_codes").selectAll().where("user_id", "=", id).execute();
    const bytes = [user.second_factor_sealed, ...hashes.map(({ code_hash }) => code_hash)];
    const stored = bytes.map((each) => each?.toString("latin1")).join("\n") + JSON.stringify(user);
    expect(hashes).toHaveLength(10);
    for (const text of [secret, ...codes, ...codes.map((code) => code.replaceAll("-", ""))]) {
      expect(stored).not.toContain(text);
    }
  });

  it.each([
    ["PUT", path, {}, "/code"],
    ["PUT", path, { code: 123456 }, "/code"],
    ["PUT", path, { code: "1".repeat(51) }, "/code"],
    ["POST", path, {}, "/current_password"],
    ["DELETE", path, {}, "/current_password"],
    ["POST", `${path}/recovery-codes`, { current_password: "" }, "/current_password"],
  ] as const)("rejects %s %s with %j at %s", async (method, to, body, field) => {
    const answer = await people.call(await people.signIn(await people.add()), method, to, { body });
    expect(answer.status).toBe(400);
    expect(answer.body.data.errors.map((fault: { path: string }) => fault.path)).toEqual([field]);
  });

  it("is for people in a session: an API key gets a 403", async () => {
    const answer = await test.current.call("POST", `/v2${path}`, { body: password });
    expect([answer.status, answer.body.data]).toEqual([403, { code: "scope_missing", needs: "session" }]);
  });
});

describe("signing in with a second factor", () => {
  it("gets no session for the password alone, and one for the password with a code", async () => {
    const { email, secret } = await addEnrolled();
    const first = await trySignIn(email);
    expect(refusalOf(first)).toEqual([400, "second_factor_needed"]);
    expect(first.headers["set-cookie"]).toBeUndefined();
    const code = codeOf(secret, 1);
    const second = await trySignIn(email, ` ${code.slice(0, 3)} ${code.slice(3)} `);
    expect(second.status).toBe(201);
    expect((await people.call(cookieOf(second), "GET", "/session")).body.has_second_factor).toBe(true);
  });

  it("accepts a code once, and no earlier one afterwards", async () => {
    const { email, secret } = await addEnrolled();
    const code = codeOf(secret, 1);
    const attempts = await Promise.all([trySignIn(email, code), trySignIn(email, code)]);
    expect(attempts.map(({ status }) => status).toSorted()).toEqual([201, 400]);
    expect(refusalOf(await trySignIn(email, code))).toEqual([400, "wrong_code"]);
    expect(refusalOf(await trySignIn(email, codeOf(secret)))).toEqual([400, "wrong_code"]);
  });

  it("accepts each recovery code once, however it is typed, and says so in the activity log", async () => {
    const { email, codes } = await addEnrolled();
    const [first = "", second = ""] = codes;
    const cookie = cookieOf(await trySignIn(email, first.toUpperCase().replaceAll("-", " ")));
    expect((await people.call(cookie, "GET", path)).body.second_factor.recovery_codes_left).toBe(9);
    expect(refusalOf(await trySignIn(email, first))).toEqual([400, "wrong_code"]);
    const attempts = await Promise.all([trySignIn(email, second), trySignIn(email, second)]);
    expect(attempts.map(({ status }) => status).toSorted()).toEqual([201, 400]);
    const types = (await people.activityOf(email)).map(({ type }) => type);
    expect(types.filter((type) => type === "useRecoveryCode")).toHaveLength(2);
  });

  it("does not accept the recovery code of somebody else", async () => {
    const { codes } = await addEnrolled();
    const { email } = await addEnrolled();
    expect(refusalOf(await trySignIn(email, codes[0]))).toEqual([400, "wrong_code"]);
  });

  it("counts wrong codes like wrong passwords, and the password alone takes none back", async () => {
    const { email, secret } = await addEnrolled();
    const address = anotherAddress();
    for (let attempt = 0; attempt < 5; attempt += 1) {
      expect(refusalOf(await trySignIn(email, "000000", { address }))).toEqual([400, "wrong_code"]);
      if (attempt < 4)
        expect(refusalOf(await trySignIn(email, undefined, { address }))[1]).toBe("second_factor_needed");
    }
    const refused = await trySignIn(email, codeOf(secret, 1), { address });
    expect(refused.body.data).toEqual({ code: "too_many_sign_ins", seconds: 30 });
    expect(await people.activityOf(email)).toContainEqual(
      expect.objectContaining({ type: "signIn", has_failed: true, public_error: "The code was wrong." }),
    );
  });

  it("does not count the first step as a failure", async () => {
    const { email, secret } = await addEnrolled();
    const address = anotherAddress();
    for (let attempt = 0; attempt < 8; attempt += 1) {
      expect(refusalOf(await trySignIn(email, undefined, { address }))[1]).toBe("second_factor_needed");
    }
    expect((await trySignIn(email, codeOf(secret, 1), { address })).status).toBe(201);
  });

  it("says nothing about a second factor to those who don't know the password", async () => {
    const { email, secret } = await addEnrolled();
    const answers = [
      await trySignIn(email, undefined, { secret: "wrong" }),
      await trySignIn(email, codeOf(secret, 1), { secret: "wrong" }),
      await trySignIn("nobody@example.com", "123456"),
    ];
    expect(answers.map(({ body }) => body.data)).toEqual(answers.map(() => ({ code: "wrong_credentials" })));
    expect(answers.every(({ body }) => isDeepStrictEqual(body, answers[0]?.body))).toBe(true);
    expect((await trySignIn(email, codeOf(secret, 1))).status, "the code was not used up").toBe(201);
  });
});

describe("removing a second factor", () => {
  it("needs the password; then the password is enough to sign in", async () => {
    const { email, cookie } = await addEnrolled();
    const wrong = await people.call(cookie, "DELETE", path, { body: { current_password: "wrong" } });
    expect(refusalOf(wrong)).toEqual([400, "wrong_credentials"]);
    const { status, body } = await people.call(cookie, "DELETE", path, { body: password });
    expect([status, body.second_factor]).toEqual([200, { ...noFactor, recovery_codes_left: 0, is_required: false }]);
    expect((await trySignIn(email)).status).toBe(201);
    expect(refusalOf(await people.call(cookie, "DELETE", path, { body: password }))).toEqual([400, "no_second_factor"]);
    const types = (await people.activityOf(email)).map(({ type }) => type);
    expect(types).toContain("addSecondFactor");
    expect(types).toContain("removeSecondFactor");
  });

  it("by an owner helps somebody who has lost it, and ends their sessions", async () => {
    const { email, cookie } = await addEnrolled("viewer");
    const owner = await addEnrolled();
    const admin = await people.signIn(await people.add({ role: "admin" }));
    const company = `/company/${test.current.company.company_id}`;
    const to = `${company}/users/${await userIdOf(email)}/second-factor`;
    expect((await people.call(admin, "DELETE", to)).body.data).toEqual({ code: "scope_missing", needs: "role:owner" });
    const own = `${company}/users/${await userIdOf(owner.email)}/second-factor`;
    expect(refusalOf(await people.call(owner.cookie, "DELETE", own))).toEqual([400, "own_second_factor"]);
    const { status, body } = await people.call(owner.cookie, "DELETE", to);
    expect([status, body.user.email]).toEqual([200, email]);
    expect((await people.call(cookie, "GET", "/session")).status).toBe(401);
    expect((await trySignIn(email)).status).toBe(201);
    expect((await people.call(owner.cookie, "DELETE", to)).status, "again").toBe(200);
    const resets = (await people.activityOf(owner.email)).filter(({ type }) => type === "resetSecondFactor");
    expect(resets).toMatchObject([{ descriptions: [`Remove the second factor of ${email}`] }]);
  });
});

it("replaces recovery codes, so that the earlier ones are refused", async () => {
  const { email, cookie, codes } = await addEnrolled();
  const to = `${path}/recovery-codes`;
  const wrong = await people.call(cookie, "POST", to, { body: { current_password: "wrong" } });
  expect(refusalOf(wrong)).toEqual([400, "wrong_credentials"]);
  const { status, body } = await people.call(cookie, "POST", to, { body: password });
  expect([status, body.second_factor.recovery_codes_left]).toEqual([201, 10]);
  expect(refusalOf(await trySignIn(email, codes[0]))).toEqual([400, "wrong_code"]);
  expect((await trySignIn(email, body.recovery_codes[0])).status).toBe(201);
  const without = await people.signIn(await people.add());
  expect(refusalOf(await people.call(without, "POST", to, { body: password }))).toEqual([400, "no_second_factor"]);
});

describe("a company that requires a second factor", () => {
  const rules = () => `/company/${test.current.company.company_id}/sign-in-rules`;
  const require = (cookie: string, isRequired: boolean) =>
    people.call(cookie, "PUT", rules(), { body: { requires_second_factor: isRequired } });

  it("refuses everything else to sessions without one, at once, until they add one; and not to API keys", async () => {
    const owner = await addEnrolled();
    const viewer = await people.signIn(await people.add({ role: "viewer" }));
    expect((await people.call(viewer, "GET", rules())).body.sign_in_rules).toEqual({ requires_second_factor: false });
    expect((await require(owner.cookie, true)).body.sign_in_rules).toEqual({ requires_second_factor: true });
    const refused = await people.call(viewer, "GET", rules());
    expect([refused.status, refused.body.data]).toEqual([403, { code: "second_factor_required" }]);
    expect(refused.body.message).toContain("POST /v2/session/second-factor");
    expect((await people.call(viewer, "GET", "/session")).body.must_add_second_factor).toBe(true);
    expect((await test.current.call("GET", `/v2${rules()}`)).status, "with a key").toBe(200);
    await enrol(viewer);
    expect((await people.call(viewer, "GET", rules())).body.sign_in_rules).toEqual({ requires_second_factor: true });
    expect((await people.call(viewer, "GET", "/session")).body.must_add_second_factor).toBe(false);
    await people.call(viewer, "DELETE", path, { body: password });
    expect((await people.call(viewer, "GET", rules())).status, "after removing it").toBe(403);
    expect((await require(owner.cookie, false)).status).toBe(200);
    expect((await people.call(viewer, "GET", rules())).status).toBe(200);
    const types = (await people.activityOf(owner.email)).map(({ type }) => type);
    expect(types.slice(0, 2)).toEqual(["stopRequiringSecondFactor", "requireSecondFactor"]);
  });

  it("is one whose owner has one", async () => {
    const owner = await people.signIn(await people.add());
    expect(refusalOf(await require(owner, true))).toEqual([400, "no_second_factor"]);
    const admin = await addEnrolled("admin");
    expect((await require(admin.cookie, true)).body.data).toEqual({ code: "scope_missing", needs: "role:owner" });
  });
});
