/** Signing in through a provider: which user an account signs in, and refusals. */
import { randomUUID } from "node:crypto";
import { makeSignInProvider } from "@sitewright/server/openid/signInProvider.ts";
import { useProvider } from "@sitewright/server/openid/testing/provider.ts";
import { silentLog } from "@sitewright/server/testing/engine.ts";
import { Secret, TOTP } from "otpauth";
import { afterEach, describe, expect, it, vi } from "vitest";
import { headersAt, origin, password, refusalOf } from "../testing/passkeys.ts";
import { chosen, cookieOf, peopleOf } from "../testing/people.ts";
import { providerSignInsOf, redirectUri } from "../testing/provider.ts";
import { useTestServer } from "../testing/server.ts";

const provider = useProvider([redirectUri]);
const test = useTestServer({
  get signInProvider() {
    return makeSignInProvider(provider.current.settings, silentLog);
  },
});
const people = peopleOf(test);
const { visit, begin, answer, identify, finish, signIn } = providerSignInsOf(test, provider);

/** Adds a user whose account at the provider is linked. */
async function addLinked() {
  const email = await people.add();
  const linked = await signIn(email, { password: chosen });
  expect(linked.status).toBe(201);
  return { email, cookie: cookieOf(linked) };
}

/** What the user has done, newest first. */
const typesOf = async (email: string) =>
  (await people.activityOf(email)).filter(({ has_failed: failed }) => !failed).map(({ type }) => type);

afterEach(() => vi.useRealTimers());

describe("an account at the provider", () => {
  it("is linked to the user with its address by their password, once, and then signs in alone", async () => {
    const email = await people.add();
    const cookie = await identify(email.toUpperCase());
    expect(refusalOf(await finish(cookie))).toEqual([400, "password_needed"]);
    expect(refusalOf(await finish(cookie, { password: "wrong" }))).toEqual([400, "wrong_credentials"]);
    const first = await finish(cookie, { password: chosen });
    expect([first.status, first.body.user?.email]).toEqual([201, email]);
    const second = await signIn(email.toUpperCase());
    expect([second.status, second.body.user?.email]).toEqual([201, email]);
    expect((await people.call(cookieOf(second), "GET", "/session")).status).toBe(200);
    expect(await typesOf(email)).toEqual(["signIn", "signIn", "linkProviderAccount"]);
  });

  it("stays linked when its address changes, also to that of another user", async () => {
    const { email } = await addLinked();
    const other = await people.add();
    await provider.current.tell({ kind: "account", login: email, email: other });
    expect((await signIn(email)).body.user.email).toBe(email);
  });

  it("takes over nobody who had its address before", async () => {
    const { email } = await addLinked();
    const successor = randomUUID();
    await provider.current.tell({ kind: "account", login: successor, email });
    const cookie = await identify(successor);
    expect(refusalOf(await finish(cookie))).toEqual([400, "password_needed"]);
    expect(refusalOf(await finish(cookie, { password: chosen }))).toEqual([400, "provider_account_taken"]);
  });

  it("makes nobody a user", async () => {
    const email = `${randomUUID()}@example.com`;
    const refused = await signIn(email, { password: chosen });
    expect(refusalOf(refused)).toEqual([400, "provider_user_unknown"]);
    expect(refused.body.message).toContain("signing in makes nobody a user");
    const query = test.current.database.selectFrom("users").select("id").where("email", "=", email);
    expect(await query.execute()).toEqual([]);
  });

  it("does not sign in a user who was removed", async () => {
    const { email } = await addLinked();
    await test.current.database.deleteFrom("users").where("email", "=", email).execute();
    expect(refusalOf(await signIn(email))).toEqual([400, "provider_user_unknown"]);
  });

  it("needs a verified address, also if it is linked", async () => {
    const { email } = await addLinked();
    const { url, cookie } = await begin();
    await provider.current.tell({ kind: "account", login: email, isVerified: false });
    const refused = await answer(await provider.current.signIn(url, email), cookie);
    expect(refusalOf(refused)).toEqual([400, "provider_email_refused"]);
    expect(refused.headers["set-cookie"]).toBeUndefined();
  });
});

describe("an invitation", () => {
  const invite = async (email: string, role = "developer") => {
    const path = `/v2/company/${test.current.company.company_id}/invitations`;
    expect((await test.current.call("POST", path, { body: { email, role } })).status).toBe(201);
  };
  const acceptance = { full_name: "Ada Lovelace", password: "green umbrella whispers loudly" };

  it("is accepted by the person with its address, who then is a user with a password and a linked account", async () => {
    const email = `${randomUUID()}@example.com`;
    await invite(email);
    const cookie = await identify(email);
    const asked = await finish(cookie);
    expect(refusalOf(asked)).toEqual([400, "acceptance_needed"]);
    const [{ id, ...shown }] = asked.body.data.invitations;
    expect(shown).toEqual({ company_name: expect.any(String), role: "developer" });
    const weak = await finish(cookie, { invitation: { ...acceptance, id, password: "password1234" } });
    expect(refusalOf(weak)).toEqual([400, "password_too_weak"]);
    const accepted = await finish(cookie, { invitation: { ...acceptance, id } });
    expect([accepted.status, accepted.body.user?.role]).toEqual([201, "developer"]);
    expect((await signIn(email)).status).toBe(201);
    expect((await people.trySignIn(email, { password: acceptance.password })).status).toBe(201);
    expect(await typesOf(email)).toEqual(["signIn", "signIn", "signIn", "linkProviderAccount", "acceptInvitation"]);
  });

  it("to another address is not offered, and can't be accepted", async () => {
    const [invited, email] = [`${randomUUID()}@example.com`, `${randomUUID()}@example.com`];
    await invite(invited);
    const { id } = (await finish(await identify(invited))).body.data.invitations[0];
    const refused = await signIn(email, { invitation: { ...acceptance, id } });
    expect(refusalOf(refused)).toEqual([400, "provider_user_unknown"]);
    await invite(email);
    expect(refusalOf(await signIn(email, { invitation: { ...acceptance, id } }))).toEqual([400, "acceptance_needed"]);
  });

  it("that has expired is not offered", async () => {
    const email = `${randomUUID()}@example.com`;
    await invite(email);
    const { database } = test.current;
    await database
      .updateTable("invitations")
      .set({ expires_at: new Date(0) })
      .where("email", "=", email)
      .execute();
    expect(refusalOf(await signIn(email))).toEqual([400, "provider_user_unknown"]);
  });
});

describe("the answer of the provider", () => {
  it("counts only in the browser in which the sign-in has begun", async () => {
    const { email } = await addLinked();
    const { url, cookie } = await begin();
    const text = await provider.current.signIn(url, email);
    const other = await begin();
    for (const wrong of ["", other.cookie, `${cookie}; ${other.cookie}`, "sitewright-sign-in=x"]) {
      expect(refusalOf(await answer(text, wrong)), wrong).toEqual([400, "provider_answer_unusable"]);
    }
    expect((await answer(text, cookie)).status, "it was not used up").toBe(200);
  });

  it("is refused with another state, and then used up", async () => {
    const { email } = await addLinked();
    const { url, cookie } = await begin();
    const text = await provider.current.signIn(url, email);
    const forged = text.replace(/state=[^&]+/, "state=another");
    expect(forged).not.toBe(text);
    for (const each of [forged, text]) {
      expect(refusalOf(await answer(each, cookie))).toEqual([400, "provider_answer_unusable"]);
    }
  });

  it("with the nonce of another sign-in is refused", async () => {
    const { email } = await addLinked();
    const { url, cookie } = await begin();
    const forged = new URL(url);
    forged.searchParams.set("nonce", "another");
    const text = await provider.current.signIn(forged.href, email);
    expect(refusalOf(await answer(text, cookie))).toEqual([400, "provider_answer_unusable"]);
  });

  it("is accepted once, and starts one session", async () => {
    const { email } = await addLinked();
    const { url, cookie } = await begin();
    const text = await provider.current.signIn(url, email);
    const found = await answer(text, cookie);
    expect(found.body).toEqual({ email, purpose: "sign_in" });
    expect(refusalOf(await answer(text, cookie))).toEqual([400, "provider_answer_unusable"]);
    const identity = String(found.headers["set-cookie"]).split(";", 1)[0] ?? "";
    const sessions = await Promise.all([finish(identity), finish(identity), finish(`${identity}.=`)]);
    expect(sessions.map(({ status }) => status).toSorted()).toEqual([201, 400, 400]);
    expect(refusalOf(await finish(identity))).toEqual([400, "provider_answer_unusable"]);
  });

  it("can be waited for ten minutes, and so can its use", async () => {
    const { email } = await addLinked();
    const { url, cookie } = await begin();
    const text = await provider.current.signIn(url, email);
    const identity = await identify(email);
    vi.useFakeTimers({ now: Date.now() + 11 * 60_000, toFake: ["Date"] });
    expect(refusalOf(await answer(text, cookie))).toEqual([400, "provider_answer_unusable"]);
    expect(refusalOf(await finish(identity))).toEqual([400, "provider_answer_unusable"]);
  });

  it("is no session, and neither part can take the place of the other", async () => {
    const { email } = await addLinked();
    const { url, cookie } = await begin();
    const text = await provider.current.signIn(url, email);
    const identity = await identify(email);
    expect(refusalOf(await finish(cookie))).toEqual([400, "provider_answer_unusable"]);
    expect(refusalOf(await answer(text, identity))).toEqual([400, "provider_answer_unusable"]);
    expect((await people.call(identity, "GET", "/session")).status).toBe(401);
    const secret = identity.slice(identity.indexOf("=") + 1);
    expect((await people.call(`sitewright=${secret}`, "GET", "/session")).status).toBe(401);
  });
});

describe("a second factor", () => {
  async function addWithApp() {
    const { email, cookie } = await addLinked();
    const begun = await people.call(cookie, "POST", "/session/second-factor", { body: password });
    const code = (steps: number) =>
      TOTP.generate({ secret: Secret.fromBase32(begun.body.secret), timestamp: Date.now() + steps * 30_000 });
    await people.call(cookie, "PUT", "/session/second-factor", { body: { code: code(0) } });
    return { email, code };
  }

  it("is still needed", async () => {
    const { email, code } = await addWithApp();
    const cookie = await identify(email);
    const asked = await finish(cookie);
    expect([...refusalOf(asked), asked.body.data.factors]).toEqual([400, "second_factor_needed", ["code"]]);
    expect(asked.headers["set-cookie"]).toBeUndefined();
    expect(refusalOf(await finish(cookie, { code: "000000" }))).toEqual([400, "wrong_code"]);
    expect((await finish(cookie, { code: code(1) })).status).toBe(201);
  });

  it("can't be guessed faster than at the password", async () => {
    const { email } = await addWithApp();
    const cookie = await identify(email);
    const headers = headersAt();
    const codes: unknown[] = [];
    for (let attempt = 0; attempt < 6; attempt += 1) {
      codes.push((await finish(cookie, { code: "000000" }, headers)).body.data.code);
    }
    expect(codes).toEqual([...Array(5).fill("wrong_code"), "too_many_sign_ins"]);
    expect(refusalOf(await finish(cookie, {}, headers)), "the account alone gets no further").toEqual([
      400,
      "second_factor_needed",
    ]);
  });
});

describe("a password that links an account", () => {
  it("can't be guessed faster than at the sign-in", async () => {
    const email = await people.add();
    const cookie = await identify(email);
    const headers = headersAt();
    const codes: unknown[] = [];
    for (let attempt = 0; attempt < 6; attempt += 1) {
      codes.push((await finish(cookie, { password: "wrong" }, headers)).body.data.code);
    }
    expect(codes).toEqual([...Array(5).fill("wrong_credentials"), "too_many_sign_ins"]);
    const { "x-forwarded-for": address } = headers;
    expect(refusalOf(await people.trySignIn(email, { address }))).toEqual([400, "too_many_sign_ins"]);
  });
});

describe("the page", () => {
  it("must be one of this server", async () => {
    const { url, cookie } = await begin();
    const headers = { ...headersAt(), "sec-fetch-site": "same-site" };
    const text = await provider.current.signIn(url, "ada@example.com");
    for (const [path, body] of [
      ["/sessions/provider/begin", { purpose: "sign_in" }],
      ["/sessions/provider/answer", { answer: text }],
      ["/sessions/provider", {}],
    ] as const) {
      expect(refusalOf(await visit(path, body, cookie, headers))).toEqual([403, "cross_site_request"]);
    }
  });

  it("is that of the request, with PKCE and a cookie that scripts and other hosts don't get", async () => {
    const { reply, url } = await begin();
    const { searchParams } = new URL(url);
    expect(searchParams.get("redirect_uri")).toBe(`${origin}/sign-in/provider`);
    expect(searchParams.get("code_challenge_method")).toBe("S256");
    expect(String(reply.headers["set-cookie"])).toMatch(
      /^sitewright-sign-in=[\w-]+; Max-Age=600; Path=\/; HttpOnly; SameSite=Strict$/,
    );
    const headers = headersAt({ host: "console.example", isSecure: true });
    const secure = await visit("/sessions/provider/begin", { purpose: "sign_in" }, "", headers);
    expect(String(secure.headers["set-cookie"])).toMatch(/^__Host-sitewright-sign-in=.*; Secure;/);
  });

  it("needs HTTPS, unless it is on this machine", async () => {
    const headers = headersAt({ host: "console.example" });
    const refused = await visit("/sessions/provider/begin", { purpose: "sign_in" }, "", headers);
    expect(refusalOf(refused)).toEqual([400, "provider_unavailable"]);
    expect(refused.body.message).toContain("needs HTTPS");
    const options = async (more: object) =>
      (await test.current.call("GET", "/v2/sign-in-options", { key: null, headers: { ...headers, ...more } })).body
        .sign_in_options.provider;
    expect(await options({})).toEqual({ name: "Example Login", unavailable_because: refused.body.message });
    expect(await options({ "x-forwarded-proto": "https" })).toMatchObject({ unavailable_because: null });
  });
});
