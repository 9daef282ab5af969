/** The protocol against a real provider: what is accepted, and what is not. */
import { createServer } from "node:http";
import { pino } from "pino";
import { afterEach, describe, expect, it, onTestFinished } from "vitest";
import { AnswerRefused, ProviderUnavailable } from "./failures.ts";
import { examineProvider, makeSignInProvider, type PendingSignIn } from "./signInProvider.ts";
import { startProvider, useProvider } from "./testing/provider.ts";

const redirectUri = "http://localhost:8080/sign-in/provider";
const provider = useProvider([redirectUri]);
const silent = pino({ level: "silent" });

const client = (more: object = {}) => makeSignInProvider({ ...provider.current.settings, ...more }, silent);

/** Signs in at the provider's page. Returns its answer. */
async function visit(login = "ada@example.com") {
  const { url, pending } = await client().begin(redirectUri);
  return { answer: await provider.current.signIn(url, login), pending };
}

const finish = (answer: string, pending: PendingSignIn) => client().finish(answer, pending);

/** The answer with another value of a parameter. */
function changed(answer: string, name: string, value: string): string {
  const parameters = new URLSearchParams(answer);
  parameters.set(name, value);
  return parameters.toString();
}

/** The answer of a provider that has signed in nobody. */
async function failWith(error: string) {
  const { pending } = await client().begin(redirectUri);
  const { issuer } = provider.current.settings;
  return { answer: new URLSearchParams({ error, state: pending.state, iss: issuer }).toString(), pending };
}

afterEach(() => provider.current.tell({ kind: "clock", seconds: 0 }));

describe("an answer", () => {
  it("says who has signed in, and whether their address is verified", async () => {
    const { answer, pending } = await visit();
    expect(await finish(answer, pending)).toEqual({
      issuer: provider.current.settings.issuer,
      subject: "ada@example.com",
      email: "ada@example.com",
      isVerified: true,
    });
    await provider.current.tell({ kind: "account", login: "bob", email: "bob@example.com", isVerified: false });
    const other = await visit("bob");
    expect(await finish(other.answer, other.pending)).toMatchObject({ subject: "bob", isVerified: false });
  });

  it("is refused with another state, verifier, nonce or issuer", async () => {
    const first = await visit();
    const second = await visit();
    const wrong = [
      finish(changed(first.answer, "state", second.pending.state), first.pending),
      finish(first.answer, second.pending),
      finish(changed(first.answer, "iss", "https://evil.example"), first.pending),
      finish("", first.pending),
    ];
    for (const attempt of wrong) await expect(attempt).rejects.toThrow(AnswerRefused);
    await expect(finish(first.answer, { ...first.pending, nonce: "another" })).rejects.toThrow(AnswerRefused);
    await expect(finish(second.answer, { ...second.pending, verifier: "another" })).rejects.toThrow(AnswerRefused);
  });

  it("of another provider is refused, even with its name", async () => {
    await using other = await startProvider([redirectUri]);
    const { url, pending } = await makeSignInProvider(other.settings, silent).begin(redirectUri);
    const answer = await other.signIn(url, "ada@example.com");
    await expect(finish(answer, pending)).rejects.toThrow(AnswerRefused);
    const renamed = changed(answer, "iss", provider.current.settings.issuer);
    await expect(finish(renamed, pending)).rejects.toThrow(AnswerRefused);
  });

  it("is accepted once", async () => {
    const { answer, pending } = await visit();
    await finish(answer, pending);
    await expect(finish(answer, pending)).rejects.toThrow(AnswerRefused);
  });

  it.each([
    ["access_denied", "You did not sign in at Example Login. Begin again, or use your password here."],
    ["login_required", "The answer of Example Login was not accepted"],
  ])("that is the error %s says what the person can do", async (error, message) => {
    const { answer, pending } = await failWith(error);
    await expect(finish(answer, pending)).rejects.toThrow(AnswerRefused);
    await expect(finish(answer, pending)).rejects.toThrow(message);
    await expect(finish(answer, { ...pending, state: "another" })).rejects.toThrow("was not accepted");
  });

  it("is accepted with a token that expired seconds ago by our clock, and not with one that expired minutes ago", async () => {
    // Tokens are valid for an hour.
    await provider.current.tell({ kind: "clock", seconds: -3_610 });
    const late = await visit();
    expect(await finish(late.answer, late.pending)).toMatchObject({ subject: "ada@example.com" });
    await provider.current.tell({ kind: "clock", seconds: -3_720 });
    const expired = await visit();
    await expect(finish(expired.answer, expired.pending)).rejects.toThrow(AnswerRefused);
  });

  it("is accepted after the provider has replaced its keys, also in the middle of a sign-in", async () => {
    const once = client();
    const signIn = async (between = async () => undefined) => {
      const { url, pending } = await once.begin(redirectUri);
      const answer = await provider.current.signIn(url, "ada@example.com");
      await between();
      return once.finish(answer, pending);
    };
    await signIn();
    const replaceKeys = async () => void (await provider.current.tell({ kind: "keys" }));
    expect(await signIn(replaceKeys)).toMatchObject({ subject: "ada@example.com" });
    expect(await signIn()).toMatchObject({ subject: "ada@example.com" });
  });
});

/** A server that is no provider. Returns its address. */
async function listen(status: number, body: string): Promise<string> {
  const server = createServer((_request, response) => response.writeHead(status).end(body));
  onTestFinished(() => void server.close());
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("Not listening on a port");
  return `http://127.0.0.1:${address.port}`;
}

describe("a provider", () => {
  it("that works is found to work", async () => {
    expect(await examineProvider(provider.current.settings)).toBeNull();
  });

  it("that does not answer is unavailable, and tried again", async () => {
    const stopped = await startProvider([redirectUri]);
    await stopped[Symbol.asyncDispose]();
    const unreachable = makeSignInProvider(stopped.settings, silent);
    await expect(unreachable.begin(redirectUri)).rejects.toThrow("Example Login does not answer. Sign in with your");
    await expect(unreachable.begin(redirectUri)).rejects.toThrow(ProviderUnavailable);
    expect(await examineProvider(stopped.settings)).toBe("does not answer");
  });

  it("that stops in the middle of a sign-in is unavailable", async () => {
    const stopping = await startProvider([redirectUri]);
    const own = makeSignInProvider(stopping.settings, silent);
    const { url, pending } = await own.begin(redirectUri);
    const answer = await stopping.signIn(url, "ada@example.com");
    await stopping[Symbol.asyncDispose]();
    await expect(own.finish(answer, pending)).rejects.toThrow(ProviderUnavailable);
  });

  it.each(["server_error", "temporarily_unavailable"])("that answers %s is unavailable", async (error) => {
    const { answer, pending } = await failWith(error);
    await expect(finish(answer, pending)).rejects.toThrow(ProviderUnavailable);
    await expect(finish(answer, pending)).rejects.toThrow("Example Login reports a fault of its own. Sign in with");
  });

  it("that refuses the client's secret is unavailable, and the reason is found", async () => {
    const settings = { ...provider.current.settings, clientSecret: "another" };
    const { answer, pending } = await visit();
    await expect(client(settings).finish(answer, pending)).rejects.toThrow("refuses this installation's client id");
    expect(await examineProvider(settings)).toContain("refuses this installation's client id");
  });

  it.each([
    [200, "<h1>Hello</h1>"],
    [404, "{}"],
    [500, ""],
    [200, '{"issuer":"https://evil.example"}'],
  ])("that answers %i %s is unavailable", async (status, body) => {
    const issuer = await listen(status, body);
    const wrong = client({ issuer });
    await expect(wrong.begin(redirectUri)).rejects.toThrow(ProviderUnavailable);
    expect(await examineProvider({ ...provider.current.settings, issuer })).toContain("as an OpenID Connect provider");
  });

  it("never appears with its secret in the log", async () => {
    const lines: string[] = [];
    const log = pino({ level: "trace" }, { write: (line: string) => void lines.push(line) });
    const { answer, pending } = await visit();
    const logged = makeSignInProvider(provider.current.settings, log);
    await logged.finish(answer, pending);
    await expect(logged.finish(answer, pending)).rejects.toThrow(AnswerRefused);
    expect(lines.join("")).toContain("invalid_grant");
    for (const secret of [provider.current.settings.clientSecret, pending.verifier, pending.nonce]) {
      expect(lines.join("")).not.toContain(secret);
    }
  });
});
