/** Installations without a provider, with one that does not answer, and with one for some addresses only. */
import { makeSignInProvider, type ProviderSettings } from "@sitewright/server/openid/signInProvider.ts";
import { startProvider, type TestProvider } from "@sitewright/server/openid/testing/provider.ts";
import { silentLog } from "@sitewright/server/testing/engine.ts";
import { describe, expect, it, onTestFinished } from "vitest";
import { headersAt, refusalOf } from "../testing/passkeys.ts";
import { chosen, peopleOf } from "../testing/people.ts";
import { providerSignInsOf, redirectUri } from "../testing/provider.ts";
import { startTestServer } from "../testing/server.ts";

/** A server with this provider, or with none. */
async function serverWith(settings: ProviderSettings | null, provider?: TestProvider) {
  const signInProvider = settings && makeSignInProvider(settings, silentLog);
  const current = await startTestServer({ signInProvider });
  onTestFinished(() => current[Symbol.asyncDispose]());
  const people = peopleOf({ current });
  const options = async () =>
    (await current.call("GET", "/v2/sign-in-options", { key: null, headers: headersAt() })).body.sign_in_options;
  const signIns = (used: TestProvider) => providerSignInsOf({ current }, { current: used });
  return { current, people, options, ...signIns(provider ?? (await idle())) };
}

/** For servers that don't ask it. */
async function idle(): Promise<TestProvider> {
  const provider = await startProvider([redirectUri]);
  onTestFinished(() => provider[Symbol.asyncDispose]());
  return provider;
}

describe("without a provider", () => {
  it("nothing is offered, and passwords work", async () => {
    const { begin, answer, finish, people, options } = await serverWith(null);
    expect((await options()).provider).toBeNull();
    expect(refusalOf((await begin()).reply)).toEqual([400, "provider_unavailable"]);
    expect(refusalOf(await answer("code=x", ""))).toEqual([400, "provider_unavailable"]);
    expect(refusalOf(await finish(""))).toEqual([400, "provider_unavailable"]);
    expect((await people.trySignIn(await people.add())).status).toBe(201);
  });
});

describe("with a provider that does not answer", () => {
  it("says so, and passwords work", async () => {
    const provider = await startProvider([redirectUri]);
    const { begin, people, options } = await serverWith(provider.settings, provider);
    expect((await begin()).reply.status).toBe(201);
    await provider[Symbol.asyncDispose]();
    const other = await serverWith(provider.settings, provider);
    const { reply } = await other.begin();
    expect(refusalOf(reply)).toEqual([400, "provider_unavailable"]);
    expect(reply.body.message).toContain("Example Login does not answer. Sign in with your password");
    expect((await options()).provider).toEqual({ name: "Example Login", unavailable_because: null });
    expect((await people.trySignIn(await people.add())).status).toBe(201);
  });

  it("any more says so when the answer is read", async () => {
    const provider = await startProvider([redirectUri]);
    const { begin, answer } = await serverWith(provider.settings, provider);
    const { url, cookie } = await begin();
    const text = await provider.signIn(url, "ada@example.com");
    await provider[Symbol.asyncDispose]();
    expect(refusalOf(await answer(text, cookie))).toEqual([400, "provider_unavailable"]);
  });
});

describe("with a provider for some domains", () => {
  it("only their addresses are accepted, of users too", async () => {
    const provider = await idle();
    const settings = { ...provider.settings, emailDomains: ["example.com"] };
    const { begin, answer, people, signIn } = await serverWith(settings, provider);
    const email = await people.add();
    expect((await signIn(email, { password: chosen })).status).toBe(201);
    for (const other of ["ada@evil.example", "ada@sub.example.com", "ada@example.com.evil.example", "ada"]) {
      await provider.tell({ kind: "account", login: email, email: other });
      const { url, cookie } = await begin();
      const refused = await answer(await provider.signIn(url, email), cookie);
      expect(refusalOf(refused), other).toEqual([400, "provider_email_refused"]);
    }
  });
});
