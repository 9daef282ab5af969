/** People who sign in at a test server through a real provider. */
import type { TestProvider } from "@sitewright/server/openid/testing/provider.ts";
import { headersAt, origin } from "./passkeys.ts";
import type { Reply, TestServer } from "./server.ts";

/** Where the provider sends browsers back to. */
export const redirectUri = `${origin}/sign-in/provider`;

type Purpose = "sign_in" | "link";

/** The name and value of a cookie that the response sets, or empty. */
function cookieIn({ headers }: Reply, name: string): string {
  const pair = String(headers["set-cookie"] ?? "").split(";", 1)[0] ?? "";
  return pair.startsWith(`${name}=`) ? pair : "";
}

export function providerSignInsOf(
  test: { readonly current: TestServer },
  provider: { readonly current: TestProvider },
) {
  /** A request from a page of the console, with these cookies. */
  const visit = (path: string, body: object, cookie = "", headers: Readonly<Record<string, string>> = headersAt()) =>
    test.current.call("POST", `/v2${path}`, { body, key: null, headers: { ...headers, cookie } });

  /** Returns the provider's page, and the cookie that binds its answer to the browser. `session`: the cookie of one. */
  async function begin(purpose: Purpose = "sign_in", session = "") {
    const reply = await visit("/sessions/provider/begin", { purpose }, session);
    return { reply, url: String(reply.body.url), cookie: cookieIn(reply, "sitewright-sign-in") };
  }

  const answer = (text: string, cookie: string) => visit("/sessions/provider/answer", { answer: text }, cookie);

  /** Signs in at the provider. Returns the cookie that keeps who has. */
  async function identify(login: string, purpose: Purpose = "sign_in", session = ""): Promise<string> {
    const { url, cookie } = await begin(purpose, session);
    const reply = await answer(await provider.current.signIn(url, login), cookie);
    if (reply.status !== 200) throw new Error(`The answer was refused: ${reply.text}`);
    return cookieIn(reply, "sitewright-sign-in");
  }

  /** Sends what belongs to a sign-in with the account of an `identify`. */
  const finish = (cookie: string, body: object = {}, headers?: Readonly<Record<string, string>>) =>
    visit("/sessions/provider", body, cookie, headers);

  /** Signs in at the provider and here. */
  const signIn = async (login: string, body: object = {}) => finish(await identify(login), body);

  return { visit, begin, answer, identify, finish, signIn };
}
