/** A real OpenID Connect provider for tests, on a free port of this machine, and somebody who signs in there. */
import { once } from "node:events";
import { Worker } from "node:worker_threads";
import { afterAll, beforeAll } from "vitest";
import type { ProviderSettings } from "../signInProvider.ts";

/** What a test tells the thread. */
export type Order =
  /** What the provider says about a person. By default, the login is their verified address. */
  | { readonly kind: "account"; readonly login: string; readonly email?: string; readonly isVerified?: boolean }
  /** Puts its clock forward, or back if negative. */
  | { readonly kind: "clock"; readonly seconds: number }
  /** Replaces its keys. */
  | { readonly kind: "keys" }
  | { readonly kind: "redirect"; readonly uris: readonly string[] };

/** What the thread says. */
export type Answer = { readonly kind: "listening"; readonly issuer: string } | { readonly kind: "done" };

export interface TestProvider extends AsyncDisposable {
  readonly settings: ProviderSettings;
  tell(order: Order): Promise<void>;
  /** Signs in at the provider's page. Returns the query with which the provider sends the browser back. */
  signIn(url: string, login: string): Promise<string>;
}

/** `redirectUris`: the pages to which it may send browsers back. */
export async function startProvider(redirectUris: readonly string[]): Promise<TestProvider> {
  // Its warnings that it is not for production stay in the streams, which nobody reads.
  const thread = new Worker(new URL("./providerThread.ts", import.meta.url), { stdout: true, stderr: true });
  const said = async (): Promise<Answer> => (await once(thread, "message"))[0];
  const first = await said();
  if (first.kind !== "listening") throw new Error("The provider does not listen");
  const { issuer } = first;
  const tell = async (order: Order) => {
    const done = said();
    thread.postMessage(order);
    await done;
  };
  await tell({ kind: "redirect", uris: redirectUris });
  return {
    settings: {
      issuer,
      clientId: "sitewright",
      clientSecret: "a secret of tests",
      name: "Example Login",
      emailDomains: null,
    },
    tell,
    signIn: (url, login) => signInAt(issuer, url, login),
    [Symbol.asyncDispose]: async () => void (await thread.terminate()),
  };
}

/** One provider for all tests of a file. */
export function useProvider(redirectUris: readonly string[]): { readonly current: TestProvider } {
  let started: TestProvider | undefined;
  beforeAll(async () => {
    started = await startProvider(redirectUris);
  });
  afterAll(async () => {
    await started?.[Symbol.asyncDispose]();
  });
  return {
    get current() {
      if (!started) throw new Error("The provider exists only while tests run");
      return started;
    },
  };
}

/** Fills in the provider's forms, as a browser without any cookies would. */
async function signInAt(issuer: string, start: string, login: string): Promise<string> {
  const cookies = new Map<string, string>();
  let request: { readonly url: string; readonly form?: URLSearchParams } = { url: start };
  while (request.url.startsWith(issuer)) {
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join("; ");
    const method = request.form === undefined ? {} : { method: "POST", body: request.form };
    const response = await fetch(request.url, { ...method, headers: { cookie }, redirect: "manual" });
    for (const line of response.headers.getSetCookie()) {
      const [, name = "", value = ""] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      if (value === "") cookies.delete(name);
      else cookies.set(name, value);
    }
    const location = response.headers.get("location");
    if (location !== null) request = { url: new URL(location, issuer).href };
    else request = filledForm(await response.text(), request.url, login);
  }
  return new URL(request.url).search.slice(1);
}

function filledForm(page: string, url: string, login: string) {
  const [, prompt] = /name="prompt" value="(\w+)"/.exec(page) ?? [];
  if (prompt === undefined) throw new Error(`The provider shows no form at ${url}: ${page}`);
  const form = new URLSearchParams({ prompt });
  if (prompt === "login") form.set("login", login);
  form.set("password", "anything");
  return { url, form };
}
