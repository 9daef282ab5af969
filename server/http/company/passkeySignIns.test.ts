/** Signing in with passkeys: after the password and instead of it. Refused if anything about them is wrong. */
import { Secret, TOTP } from "otpauth";
import { describe, expect, it } from "vitest";
import { makePasskey } from "../testing/authenticator.ts";
import { headersAt, consoleHost as host, origin, passkeysOf, password, refusalOf } from "../testing/passkeys.ts";
import { chosen, cookieOf, peopleOf } from "../testing/people.ts";
import { useTestServer } from "../testing/server.ts";

const test = useTestServer();
const people = peopleOf(test);
const { enrol, visit, trySignIn, addEnrolled, optionsFor, optionsAlone, alone, userIdOf } = passkeysOf(test, people);
const factorPath = "/session/second-factor";

describe("a passkey after the password", () => {
  it("signs in, and its use is shown", async () => {
    const { email, passkey } = await addEnrolled();
    const answer = await trySignIn(email);
    expect(answer.body.data.factors).toEqual(["code", "passkey"]);
    expect(answer.headers["set-cookie"]).toBeUndefined();
    const options = answer.body.data.passkey_options;
    expect(options).toMatchObject({ rpId: "localhost", userVerification: "discouraged" });
    const signedIn = await trySignIn(email, { passkey: passkey.use(options, { origin, isUserVerified: false }) });
    expect(signedIn.status).toBe(201);
    const { second_factor } = (await people.call(cookieOf(signedIn), "GET", factorPath)).body;
    expect(second_factor.passkeys[0].last_used_at).toEqual(expect.any(String));
  });

  it("is not enough without the password, and says nothing to those who don't know it", async () => {
    const { email, passkey } = await addEnrolled();
    const options = await optionsFor(email);
    const credential = passkey.use(options, { origin });
    const answer = await visit("/sessions", { email, password: "wrong", passkey: credential });
    expect(answer.body.data).toEqual({ code: "wrong_credentials" });
    expect((await trySignIn(email, { passkey: credential })).status, "it was not used up").toBe(201);
  });

  it("is replaced by a recovery code, and by the app of a user who has both", async () => {
    const { email, cookie, codes } = await addEnrolled();
    expect((await trySignIn(email, { code: codes[0] })).status).toBe(201);
    const { secret } = (await people.call(cookie, "POST", factorPath, { body: password })).body;
    const code = (steps = 0) =>
      TOTP.generate({ secret: Secret.fromBase32(secret), timestamp: Date.now() + steps * 30_000 });
    expect(refusalOf(await trySignIn(email, { code: code() })), "before it is confirmed").toEqual([400, "wrong_code"]);
    const confirmed = await people.call(cookie, "PUT", factorPath, { body: { code: code() } });
    expect([confirmed.status, confirmed.body.recovery_codes]).toEqual([200, []]);
    expect((await trySignIn(email, { code: code(1) })).status).toBe(201);
  });

  it("is refused in a page of another origin, replayed, with another challenge, or of another user", async () => {
    const { email, passkey } = await addEnrolled();
    const other = await addEnrolled();
    const answers = [
      passkey.use(await optionsFor(email), { origin: "http://localhost:8081" }),
      passkey.use(await optionsFor(email), { origin, challenge: (await optionsAlone()).challenge }),
      passkey.use(await optionsFor(other.email), { origin }),
      other.passkey.use(await optionsFor(email), { origin }),
      passkey.use({ ...(await optionsFor(email)), rpId: "evil.example" }, { origin }),
    ];
    for (const credential of answers) {
      expect(refusalOf(await trySignIn(email, { passkey: credential }))).toEqual([400, "wrong_passkey"]);
    }
    const right = passkey.use(await optionsFor(email), { origin });
    expect((await trySignIn(email, { passkey: right })).status).toBe(201);
    expect(refusalOf(await trySignIn(email, { passkey: right })), "replayed").toEqual([400, "wrong_passkey"]);
  });

  it("is refused with a signature of another key", async () => {
    const { email, passkey } = await addEnrolled();
    const options = await optionsFor(email);
    const forged = { ...makePasskey().use(options, { origin }), id: passkey.id };
    expect(refusalOf(await trySignIn(email, { passkey: forged }))).toEqual([400, "wrong_passkey"]);
    expect((await people.activityOf(email))[0]).toMatchObject({ type: "signIn", has_failed: true });
  });

  it("is refused if its counter goes back, because it may be a copy", async () => {
    const { email, passkey } = await addEnrolled();
    expect(
      (await trySignIn(email, { passkey: passkey.use(await optionsFor(email), { origin, counter: 5 }) })).status,
    ).toBe(201);
    for (const counter of [5, 4, 0]) {
      const answer = await trySignIn(email, { passkey: passkey.use(await optionsFor(email), { origin, counter }) });
      expect(refusalOf(answer)).toEqual([400, "wrong_passkey"]);
      expect(answer.body.message).toContain("copied");
    }
  });

  it("counts like a wrong code", async () => {
    const { email, passkey } = await addEnrolled();
    const headers = headersAt();
    const call = (body: object) =>
      test.current.call("POST", "/v2/sessions", { body: { email, password: chosen, ...body }, key: null, headers });
    for (let attempt = 0; attempt < 5; attempt += 1) {
      const options = (await call({})).body.data.passkey_options;
      const credential = passkey.use(options, { origin: "http://localhost:1" });
      expect(refusalOf(await call({ passkey: credential }))).toEqual([400, "wrong_passkey"]);
    }
    expect(refusalOf(await call({}))).toEqual([400, "too_many_sign_ins"]);
  });

  it("is not offered at an address where it does not work", async () => {
    const { email, codes } = await addEnrolled();
    const where = { host: "localhost:9090" };
    const answer = await visit("/sessions", { email, password: chosen }, where);
    expect(answer.body.data).toEqual({ code: "second_factor_needed", factors: ["code"] });
    expect((await visit("/sessions", { email, password: chosen, code: codes[1] }, where)).status).toBe(201);
  });
});

describe("a passkey alone", () => {
  it("signs in if it has checked its user", async () => {
    const { email, passkey } = await addEnrolled();
    const options = await optionsAlone();
    expect(options).toMatchObject({ rpId: "localhost", userVerification: "required", allowCredentials: [] });
    const userHandle = Buffer.from((await userIdOf(email)).replaceAll("-", ""), "hex").toString("base64url");
    const answer = await alone(passkey.use(options, { origin, userHandle }));
    expect([answer.status, answer.body.user.email]).toEqual([201, email]);
    expect((await people.call(cookieOf(answer), "GET", "/session")).status).toBe(200);
  });

  it("is refused if it has not, and if anything else about it is wrong", async () => {
    const { email, passkey } = await addEnrolled();
    const used = passkey.use(await optionsAlone(), { origin });
    expect((await alone(used)).status).toBe(201);
    const answers = [
      used,
      passkey.use(await optionsAlone(), { origin, isUserVerified: false }),
      passkey.use(await optionsAlone(), { origin: "https://evil.example" }),
      passkey.use(await optionsAlone(), { origin, userHandle: "AAAA" }),
      passkey.use(await optionsFor(email), { origin }),
      makePasskey().use(await optionsAlone(), { origin }),
    ];
    for (const credential of answers) expect(refusalOf(await alone(credential))).toEqual([400, "wrong_passkey"]);
  });

  it("is refused if a page on another port, or below another name, has used it and forged the address", async () => {
    const { passkey } = await addEnrolled();
    for (const where of [{ host: "localhost:8081" }, { host: "site.localhost:8080", isSecure: true }]) {
      const { challenge } = await optionsAlone(where);
      const page = `${where.isSecure === true ? "https" : "http"}://${where.host}`;
      const credential = passkey.use({ challenge, rpId: "localhost" }, { origin: page });
      expect(refusalOf(await visit("/sessions/passkey", { credential }, where))).toEqual([400, "wrong_passkey"]);
    }
  });

  it("gets a session that can do nothing but choose a password, if the password was generated", async () => {
    const email = await people.add({ mustChange: true });
    const { passkey } = await enrol(await people.signIn(email));
    const cookie = cookieOf(await alone(passkey.use(await optionsAlone(), { origin })));
    expect((await people.call(cookie, "GET", "/validate")).body.data).toEqual({ code: "password_change_required" });
  });

  it("can't be begun or finished by a page of somebody else", async () => {
    for (const to of ["/sessions/passkey/options", "/sessions/passkey"]) {
      const headers = { host, "sec-fetch-site": "cross-site" };
      const answer = await test.current.call("POST", `/v2${to}`, { body: {}, key: null, headers });
      expect([answer.status, answer.body.data]).toEqual([403, { code: "cross_site_request" }]);
    }
  });

  it.each([
    [{}, "/credential"],
    [{ credential: "x" }, "/credential"],
    [{ credential: { id: "a b", type: "public-key", response: {} } }, "/credential/id"],
    [{ credential: { id: "a", type: "x", response: {} } }, "/credential/type"],
    [
      { credential: { id: "a", type: "public-key", response: { clientDataJSON: "=" } } },
      "/credential/response/clientDataJSON",
    ],
  ])("rejects %j at %s", async (body, field) => {
    const answer = await visit("/sessions/passkey", body);
    expect(answer.status).toBe(400);
    expect(answer.body.data.errors.map((fault: { path: string }) => fault.path)).toContain(field);
  });

  it.each(["bnVsbA", "e30", "IjEi", "__8", "eyJjaGFsbGVuZ2UiOm51bGx9"])(
    "refuses signed data that is no JSON object with a challenge: %s",
    async (clientDataJSON) => {
      const response = { clientDataJSON, authenticatorData: "AAAA", signature: "AAAA" };
      expect(refusalOf(await alone({ id: "AAAA", type: "public-key", response }))).toEqual([400, "wrong_passkey"]);
    },
  );
});
