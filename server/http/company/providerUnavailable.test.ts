/** Installations without a provider, with one that does not answer, and with one for some addresses only. */
import {
  makeSignInProvider,
  type ProviderSettings,
  type SignInProvider,
} from "@sitewright/server/openid/signInProvider.ts";
import { startProvider, type TestProvider } from "@sitewright/server/openid/testing/provider.ts";
import { silentLog } from "@sitewright/server/testing/engine.ts";
import { describe, expect, it, onTestFinished } from "vitest";
import { headersAt, refusalOf } from "../testing/passkeys.ts";
import { chosen, peopleOf } from "../testing/people.ts";
import { providerSignInsOf, redirectUri } from "../testing/provider.ts";
import { startTestServer } from "../testing/server.ts";

/** A server with this provider, or with none. */
function serverWith(settings: ProviderSettings | null, provider?: TestProvider) {
  return serverOf(settings && makeSignInProvider(settings, silentLog), provider);
}

async function serverOf(signInProvider: SignInProvider | null, provider?: TestProvider) {
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

/** A provider whose settings a test changes, as an operator who restarts the server. */
function changeable(settings: ProviderSettings) {
  let current = makeSignInProvider(settings, silentLog);
  const provider: SignInProvider = {
    get issuer() {
      return current.issuer;
    },
    get name() {
      return current.name;
    },
    get emailDomains() {
      return current.emailDomains;
    },
    begin: (uri) => current.begin(uri),
    finish: (answer, pending) => current.finish(answer, pending),
  };
  const change = (more: Partial<ProviderSettings>) => {
    current = makeSignInProvider({ ...settings, ...more }, silentLog);
  };
  return { provider, change };
}

describe("with a provider whose settings have changed", () => {
  it("nobody who signed in at it before is accepted, unless they still would be", async () => {
    const provider = await idle();
    const changing = changeable(provider.settings);
    const { finish, identify, people } = await serverOf(changing.provider, provider);
    const [email, other] = [await people.add(), await people.add()];
    const session = await people.signIn(other);
    const signsIn = await identify(email);
    const links = await identify(other, "link", session);
    const link = () => {
      const body = { current_password: chosen };
      return people.call(`${session}; ${links}`, "POST", "/session/provider-accounts", { body, headers: headersAt() });
    };
    for (const more of [{ issuer: "https://another.example" }, { emailDomains: ["another.example"] }]) {
      changing.change(more);
      const refused = [await finish(signsIn, { password: chosen }), await link()];
      expect(refused.map(refusalOf)).toEqual(Array(2).fill([400, "provider_answer_unusable"]));
    }
    changing.change({ issuer: `${provider.settings.issuer}/`, emailDomains: ["example.com"] });
    expect([(await finish(signsIn, { password: chosen })).status, (await link()).status]).toEqual([201, 201]);
  });
});
