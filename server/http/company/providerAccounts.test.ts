/** The accounts at a provider with which a user signs in: listed, linked and unlinked in a session. */

import { randomUUID } from "node:crypto";
import { makeSignInProvider } from "@sitewright/server/openid/signInProvider.ts";
import { useProvider } from "@sitewright/server/openid/testing/provider.ts";
import { silentLog } from "@sitewright/server/testing/engine.ts";
import { expect, it } from "vitest";
import { headersAt, password, refusalOf } from "../testing/passkeys.ts";
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
const { identify, finish, signIn } = providerSignInsOf(test, provider);
const path = "/session/provider-accounts";
const wrongPassword = { current_password: "wrong" };

/** Adds a user. Returns their address, session, and another login at the provider. */
async function addPerson() {
  const email = await people.add({ role: "viewer" });
  return { email, cookie: await people.signIn(email), login: `${randomUUID()}@elsewhere.example` };
}

const link = (session: string, identity: string, body: object = password) =>
  people.call(`${session}; ${identity}`, "POST", path, { body, headers: headersAt() });

const list = async (session: string) => (await people.call(session, "GET", path)).body.provider_accounts;

const typesOf = async (email: string) =>
  (await people.activityOf(email)).filter(({ has_failed: failed }) => !failed).map(({ type }) => type);

it("an account with any address is linked with the password, and then signs in", async () => {
  const { email, cookie, login } = await addPerson();
  expect(await list(cookie)).toEqual([]);
  const identity = await identify(login, "link", cookie);
  expect(refusalOf(await link(cookie, identity, wrongPassword))).toEqual([400, "wrong_credentials"]);
  const linked = await link(cookie, identity);
  expect([linked.status, linked.body.provider_account]).toEqual([
    201,
    expect.objectContaining({ provider: "Example Login", email: login, last_used_at: null }),
  ]);
  const signedIn = await signIn(login);
  expect([signedIn.status, signedIn.body.user?.email]).toEqual([201, email]);
  expect(await list(cookie)).toEqual([
    { ...linked.body.provider_account, last_used_at: expect.stringMatching(/^\d{4}-/) },
  ]);
  expect(await typesOf(email)).toEqual(["signIn", "linkProviderAccount", "signIn"]);
});

it("an unlinked account no longer signs in", async () => {
  const { email, cookie, login } = await addPerson();
  const { provider_account: account } = (await link(cookie, await identify(login, "link", cookie))).body;
  const unlink = (session: string, body: object) =>
    people.call(session, "DELETE", `${path}/${account.id}`, { body, headers: headersAt() });
  expect(refusalOf(await unlink(cookie, wrongPassword))).toEqual([400, "wrong_credentials"]);
  expect((await unlink((await addPerson()).cookie, password)).status).toBe(404);
  const unlinked = await unlink(cookie, password);
  expect([unlinked.status, unlinked.body.provider_account]).toEqual([200, account]);
  expect(await list(cookie)).toEqual([]);
  expect(refusalOf(await signIn(login))).toEqual([400, "provider_user_unknown"]);
  expect(await typesOf(email)).toEqual(["unlinkProviderAccount", "linkProviderAccount", "signIn"]);
});

it("an account signs in one user, and a user has one", async () => {
  const first = await addPerson();
  const second = await addPerson();
  expect((await link(first.cookie, await identify(first.login, "link", first.cookie))).status).toBe(201);
  const theirs = await link(second.cookie, await identify(first.login, "link", second.cookie));
  expect(refusalOf(theirs)).toEqual([400, "provider_account_taken"]);
  const another = await link(first.cookie, await identify(second.login, "link", first.cookie));
  expect(refusalOf(another)).toEqual([400, "provider_account_taken"]);
  expect((await list(first.cookie)).length).toBe(1);
});

it("an answer links once, only in a session, and only if it was asked for that", async () => {
  const { email, cookie, login } = await addPerson();
  const identity = await identify(login, "link", cookie);
  expect(refusalOf(await finish(identity, { password: chosen }))).toEqual([400, "provider_answer_unusable"]);
  expect(refusalOf(await link(cookie, await identify(email)))).toEqual([400, "provider_answer_unusable"]);
  expect(refusalOf(await link(cookie, ""))).toEqual([400, "provider_answer_unusable"]);
  expect((await link("", identity)).status).toBe(401);
  const linked = await link(cookie, identity);
  const { id } = linked.body.provider_account;
  await people.call(cookie, "DELETE", `${path}/${id}`, { body: password, headers: headersAt() });
  expect(refusalOf(await link(cookie, identity))).toEqual([400, "provider_answer_unusable"]);
});

it("an account is linked only in the session in which it was asked for", async () => {
  const { email, cookie, login } = await addPerson();
  const other = await addPerson();
  const later = await people.signIn(email);
  for (const beginner of ["", "sitewright=x", other.cookie, later]) {
    const identity = await identify(login, "link", beginner);
    expect(refusalOf(await link(cookie, identity)), beginner).toEqual([400, "provider_answer_unusable"]);
  }
  expect(refusalOf(await link("", await identify(login, "link")))).toEqual([401, undefined]);
  expect((await link(cookie, await identify(login, "link", cookie))).status).toBe(201);
});

it("a generated password links nothing, in a session or at the sign-in", async () => {
  const email = await people.add({ mustChange: true });
  const cookie = await people.signIn(email);
  const refused = [
    await link(cookie, await identify(email, "link", cookie)),
    await finish(await identify(email), { password: chosen }),
  ];
  expect(refused.map(refusalOf)).toEqual(Array(2).fill([403, "password_change_required"]));
  expect(refused.map(({ body }) => body.message)).toEqual([
    expect.stringContaining("PUT /v2/session/password"),
    expect.stringContaining("Sign in with your password first"),
  ]);
  expect(await list(cookie)).toEqual([]);
  const body = { current_password: chosen, new_password: "green umbrella whispers loudly" };
  expect((await people.call(cookie, "PUT", "/session/password", { body })).status).toBe(200);
  const identity = await identify(email, "link", cookie);
  expect((await link(cookie, identity, { current_password: body.new_password })).status).toBe(201);
});

it("a code that nobody asked for takes back no wrong passwords", async () => {
  const { email, cookie, login } = await addPerson();
  expect((await link(cookie, await identify(login, "link", cookie))).status).toBe(201);
  const headers = headersAt();
  const guess = async () => {
    const { body } = await people.trySignIn(email, { password: "wrong", address: headers["x-forwarded-for"] });
    return body.data.code;
  };
  for (let attempt = 0; attempt < 4; attempt += 1) expect(await guess()).toBe("wrong_credentials");
  expect((await finish(await identify(login), { code: "000000" }, headers)).status).toBe(201);
  expect([await guess(), await guess()]).toEqual(["wrong_credentials", "too_many_sign_ins"]);
});

it("a user who has signed in through the provider sees the account", async () => {
  const email = await people.add();
  const session = cookieOf(await signIn(email, { password: chosen }));
  expect(await list(session)).toMatchObject([{ email, last_used_at: expect.any(String) }]);
});
