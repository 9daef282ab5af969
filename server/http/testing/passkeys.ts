/** People with passkeys at a test server. */
import { expect } from "vitest";
import { makePasskey, type TestPasskey } from "./authenticator.ts";
import { anotherAddress, chosen, ownPage, type People } from "./people.ts";
import type { Reply, TestServer } from "./server.ts";

/** Where the console of these tests is. */
export const consoleHost = "localhost:8080";
export const origin = `http://${consoleHost}`;

export const password = { current_password: chosen };

interface Where {
  readonly host?: string;
  readonly isSecure?: boolean;
}

/** What a browser sends that has opened the console there, from a network of its own. */
export const headersAt = ({ host = consoleHost, isSecure = false }: Where = {}) => ({
  ...ownPage,
  host,
  "x-forwarded-for": anotherAddress(),
  ...(isSecure && { "x-forwarded-proto": "https" }),
});

/** The status and code of an answer. */
export const refusalOf = ({ status, body }: Reply) => [status, body.data?.code];

export function passkeysOf(test: { readonly current: TestServer }, people: People) {
  const begin = (cookie: string, where?: Where) =>
    people.call(cookie, "POST", "/session/passkeys/options", { body: password, headers: headersAt(where) });

  const add = (cookie: string, credential: unknown, name = "Phone"): Promise<Reply> =>
    people.call(cookie, "POST", "/session/passkeys", { body: { name, credential }, headers: headersAt() });

  /** Adds a passkey to the user of the session. */
  async function enrol(cookie: string, passkey: TestPasskey = makePasskey()) {
    const { options } = (await begin(cookie)).body;
    const answer = await add(cookie, passkey.create(options, origin));
    expect([answer.status, answer.text]).toEqual([201, expect.any(String)]);
    const codes: readonly string[] = answer.body.recovery_codes;
    return { passkey, codes, id: String(answer.body.second_factor.passkeys.at(-1).id) };
  }

  /** A call without a session. */
  const visit = (to: string, body?: unknown, where?: Where): Promise<Reply> =>
    test.current.call("POST", `/v2${to}`, { body, key: null, headers: headersAt(where) });

  const trySignIn = (email: string, more: object = {}) => visit("/sessions", { email, password: chosen, ...more });

  return {
    begin,
    add,
    enrol,
    visit,
    trySignIn,
    /** Adds a person with a passkey. */
    addEnrolled: async (role: "owner" | "viewer" = "owner") => {
      const email = await people.add({ role });
      const cookie = await people.signIn(email);
      return { email, cookie, ...(await enrol(cookie)) };
    },
    /** The options that the right password alone gets. */
    optionsFor: async (email: string) => {
      const answer = await trySignIn(email);
      expect(refusalOf(answer)).toEqual([400, "second_factor_needed"]);
      return answer.body.data.passkey_options;
    },
    /** The options for a sign-in without the password. */
    optionsAlone: async (where?: Where) => (await visit("/sessions/passkey/options", undefined, where)).body.options,
    /** Signs in without the password. */
    alone: (credential: unknown) => visit("/sessions/passkey", { credential }),
    userIdOf: async (email: string): Promise<string> => {
      const query = test.current.database.selectFrom("users").select("id").where("email", "=", email);
      return (await query.executeTakeFirstOrThrow()).id;
    },
  };
}
