/** Passkeys: added by their users, removed, and required by a company. */
import { Secret, TOTP } from "otpauth";
import { describe, expect, it } from "vitest";
import { type CreationOptions, makePasskey, type TestPasskey } from "../testing/authenticator.ts";
import { headersAt, origin, passkeysOf, password, refusalOf } from "../testing/passkeys.ts";
import { peopleOf } from "../testing/people.ts";
import { useTestServer } from "../testing/server.ts";

const test = useTestServer();
const people = peopleOf(test);
const { begin, add, enrol, trySignIn, addEnrolled, optionsAlone, alone, userIdOf } = passkeysOf(test, people);
const factorPath = "/session/second-factor";
const path = "/session/passkeys";

describe("adding a passkey", () => {
  it("needs the password, makes recovery codes, ends other sessions, and is shown with its flags", async () => {
    const email = await people.add();
    const cookie = await people.signIn(email);
    const other = await people.signIn(email);
    const wrong = await people.call(cookie, "POST", `${path}/options`, {
      body: { current_password: "wrong" },
      headers: headersAt(),
    });
    expect(refusalOf(wrong)).toEqual([400, "wrong_credentials"]);
    const { codes } = await enrol(cookie);
    expect(codes).toHaveLength(10);
    expect((await people.call(other, "GET", "/session")).status).toBe(401);
    const { second_factor } = (await people.call(cookie, "GET", factorPath)).body;
    expect(second_factor).toMatchObject({ since: expect.any(String), app_since: null, recovery_codes_left: 10 });
    expect(second_factor.passkeys).toEqual([
      {
        id: expect.any(String),
        name: "Phone",
        created_at: expect.any(String),
        last_used_at: null,
        is_backed_up: true,
        origin,
      },
    ]);
    expect((await people.call(cookie, "GET", "/session")).body.has_second_factor).toBe(true);
    const entry = { type: "addPasskey", descriptions: ["Add the passkey “Phone”"] };
    expect(await people.activityOf(email)).toContainEqual(expect.objectContaining(entry));
    const stored = await test.current.database
      .selectFrom("passkeys")
      .select(["transports", "can_be_backed_up", "counter"])
      .where("user_id", "=", await userIdOf(email))
      .execute();
    expect(stored).toEqual([{ transports: ["internal"], can_be_backed_up: true, counter: 0 }]);
  });

  it("keeps the recovery codes and sessions if the user has a second factor, and names the passkeys not to add again", async () => {
    const { email, cookie, passkey, codes } = await addEnrolled();
    const { options } = (await begin(cookie)).body;
    expect(options.excludeCredentials).toEqual([{ id: passkey.id, type: "public-key", transports: ["internal"] }]);
    const second = await add(cookie, makePasskey().create(options, origin), "Key");
    expect([second.status, second.body.recovery_codes]).toEqual([201, []]);
    expect((await trySignIn(email, { code: codes[0] })).status).toBe(201);
  });

  it.each([
    [
      "for a page of another origin",
      (made: TestPasskey, options: CreationOptions) => made.create(options, "http://localhost:8081"),
    ],
    [
      "with a challenge of nobody",
      (made: TestPasskey, { rp }: CreationOptions) => made.create({ rp, challenge: "AAAA" }, origin),
    ],
    [
      "for another host",
      (made: TestPasskey, { challenge }: CreationOptions) =>
        made.create({ challenge, rp: { id: "evil.example" } }, origin),
    ],
    [
      "that is no attestation",
      (made: TestPasskey, options: CreationOptions) => {
        const answer = made.create(options, origin);
        return { ...answer, response: { ...answer.response, attestationObject: "AAAA" } };
      },
    ],
  ])("refuses an answer %s", async (_, answer) => {
    const cookie = await people.signIn(await people.add());
    const { options } = (await begin(cookie)).body;
    expect(refusalOf(await add(cookie, answer(makePasskey(), options)))).toEqual([400, "wrong_passkey"]);
    expect((await people.call(cookie, "GET", factorPath)).body.second_factor.since).toBe(null);
  });

  it("accepts each challenge once, only in its session, and not from a sign-in", async () => {
    const email = await people.add();
    const [cookie, other] = [await people.signIn(email), await people.signIn(email)];
    const { options } = (await begin(cookie)).body;
    expect(refusalOf(await add(other, makePasskey().create(options, origin)))).toEqual([400, "wrong_passkey"]);
    const answers = await Promise.all([
      add(cookie, makePasskey().create(options, origin)),
      add(cookie, makePasskey().create(options, origin)),
    ]);
    expect(answers.map(({ status }) => status).toSorted()).toEqual([201, 400]);
    const { challenge } = await optionsAlone();
    const foreign = makePasskey().create({ ...options, challenge }, origin);
    expect(refusalOf(await add(cookie, foreign))).toEqual([400, "wrong_passkey"]);
  });

  it("refuses a passkey that somebody has added", async () => {
    const { passkey } = await addEnrolled();
    const cookie = await people.signIn(await people.add());
    const { options } = (await begin(cookie)).body;
    expect(refusalOf(await add(cookie, passkey.create(options, origin)))).toEqual([400, "passkey_exists"]);
  });

  it.each([
    [{ host: "sitewright.example.com" }, "Passkeys need HTTPS"],
    [{ host: "127.0.0.1:8080" }, "Open the console at http://localhost:8080."],
    [{ host: "203.0.113.7", isSecure: true }, "Open the console by its name."],
  ])("says why there can be none at %j", async (where, words) => {
    const cookie = await people.signIn(await people.add(), { headers: headersAt(where) });
    const answer = await begin(cookie, where);
    expect(refusalOf(answer)).toEqual([400, "passkeys_unavailable"]);
    expect(answer.body.message).toContain(words);
    const shown = await test.current.call("GET", "/v2/sign-in-options", { key: null, headers: headersAt(where) });
    expect(shown.body.sign_in_options.passkeys_unavailable_because).toBe(answer.body.message);
  });

  it("is possible at a name with HTTPS", async () => {
    const where = { host: "sitewright.example.com", isSecure: true };
    const cookie = await people.signIn(await people.add(), { headers: headersAt(where) });
    expect((await begin(cookie, where)).body.options.rp).toEqual({ id: "sitewright.example.com", name: "Sitewright" });
  });

  it("is for people in a session: an API key gets a 403", async () => {
    const answer = await test.current.call("POST", `/v2${path}/options`, { body: password });
    expect([answer.status, answer.body.data]).toEqual([403, { code: "scope_missing", needs: "session" }]);
  });
});

describe("removing a passkey", () => {
  const remove = (cookie: string, id: string, body: object = password) =>
    people.call(cookie, "DELETE", `${path}/${id}`, { body, headers: headersAt() });

  it("needs the password; without any factor, the password is enough again", async () => {
    const { email, cookie, id, passkey } = await addEnrolled();
    expect(refusalOf(await remove(cookie, id, { current_password: "wrong" }))).toEqual([400, "wrong_credentials"]);
    const stranger = await people.signIn(await people.add());
    expect((await remove(stranger, id)).status).toBe(404);
    const { body } = await remove(cookie, id);
    expect(body.second_factor).toMatchObject({ since: null, passkeys: [], recovery_codes_left: 0 });
    expect((await trySignIn(email)).status).toBe(201);
    expect(refusalOf(await alone(passkey.use(await optionsAlone(), { origin })))).toEqual([400, "wrong_passkey"]);
    expect((await people.activityOf(email)).map(({ type }) => type)).toContain("removePasskey");
  });

  it("keeps the other factors in force, and so does removing the app", async () => {
    const { email, cookie, id } = await addEnrolled();
    const { secret } = (await people.call(cookie, "POST", factorPath, { body: password })).body;
    const code = TOTP.generate({ secret: Secret.fromBase32(secret), timestamp: Date.now() });
    await people.call(cookie, "PUT", factorPath, { body: { code } });
    const removed = (await remove(cookie, id)).body.second_factor;
    expect(removed).toMatchObject({ since: expect.any(String), passkeys: [], recovery_codes_left: 10 });
    await enrol(cookie);
    const app = await people.call(cookie, "DELETE", `${factorPath}/app`, { body: password });
    expect(app.body.second_factor).toMatchObject({
      since: expect.any(String),
      app_since: null,
      recovery_codes_left: 10,
    });
    expect((await trySignIn(email)).body.data.code).toBe("second_factor_needed");
    const again = await people.call(cookie, "DELETE", `${factorPath}/app`, { body: password });
    expect(refusalOf(again)).toEqual([400, "no_authenticator_app"]);
  });

  it("happens with everything else when the second factor is removed, by its user or by an owner", async () => {
    const owner = await addEnrolled();
    const viewer = await addEnrolled("viewer");
    const company = `/company/${test.current.company.company_id}`;
    await people.call(owner.cookie, "DELETE", `${company}/users/${await userIdOf(viewer.email)}/second-factor`);
    expect((await trySignIn(viewer.email)).status).toBe(201);
    await people.call(owner.cookie, "DELETE", factorPath, { body: password });
    expect((await trySignIn(owner.email)).status).toBe(201);
    expect(
      await test.current.database
        .selectFrom("passkeys")
        .select("id")
        .where("user_id", "=", await userIdOf(owner.email))
        .execute(),
    ).toEqual([]);
  });
});

it("is a second factor for a company that requires one", async () => {
  const owner = await addEnrolled();
  const cookie = await people.signIn(await people.add({ role: "viewer" }));
  const rules = `/company/${test.current.company.company_id}/sign-in-rules`;
  const require = (isRequired: boolean) =>
    people.call(owner.cookie, "PUT", rules, { body: { requires_second_factor: isRequired } });
  expect((await require(true)).status).toBe(200);
  expect((await people.call(cookie, "GET", rules)).body.data).toEqual({ code: "second_factor_required" });
  await enrol(cookie);
  expect((await people.call(cookie, "GET", rules)).status).toBe(200);
  expect((await require(false)).status).toBe(200);
});
