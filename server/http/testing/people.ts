/** People who sign in at a test server. */
import { randomUUID } from "node:crypto";
import { hashPassword } from "@sitewright/server/app/company/passwords.ts";
import { insertUser } from "@sitewright/server/store/company/users.ts";
import type { Role } from "@sitewright/server/store/database.ts";
import { expect } from "vitest";
import type { Reply, TestServer } from "./server.ts";

/** The password of all of them. */
export const chosen = "seven purple tractors sing";

/** What browsers send with requests of the server's own pages. */
export const ownPage = { "sec-fetch-site": "same-origin" };

interface NewPerson {
  readonly role?: Role;
  readonly mustChange?: boolean;
  readonly siteIds?: readonly string[] | null;
  readonly labelIds?: readonly string[] | null;
  readonly companyId?: string;
  readonly isOperator?: boolean;
}

interface SignInOptions {
  readonly password?: string;
  /** Default: one that nobody else has. */
  readonly address?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

interface CallOptions {
  readonly body?: unknown;
  /** Default: those of the server's own pages. */
  readonly headers?: Readonly<Record<string, string>>;
}

export interface People {
  /** Adds a user with the password `chosen`. Returns the e-mail address. */
  add(person?: NewPerson): Promise<string>;
  trySignIn(email: string, options?: SignInOptions): Promise<Reply>;
  /** Returns the cookie of the session. */
  signIn(email: string, options?: SignInOptions): Promise<string>;
  /** A call with the cookie of a session. */
  call(cookie: string, method: "GET" | "POST" | "PUT" | "DELETE", path: string, options?: CallOptions): Promise<Reply>;
  /** The user's entries in the activity log, newest first. */
  activityOf(email: string): Promise<readonly Readonly<Record<string, unknown>>[]>;
}

/** An address of a client that no other test has. */
export const anotherAddress = (): string => `2001:db8:${randomUUID().slice(0, 4)}:${randomUUID().slice(0, 4)}::1`;

/** The name and value of the cookie that the response sets. */
export const cookieOf = ({ headers }: Reply): string => String(headers["set-cookie"]).split(";", 1)[0] ?? "";

/** Hashing takes a tenth of a second. */
const hashes: Promise<string>[] = [];

function chosenHash(): Promise<string> {
  const [made = hashPassword(chosen)] = hashes;
  hashes[0] = made;
  return made;
}

export function peopleOf(test: { readonly current: TestServer }): People {
  const trySignIn: People["trySignIn"] = (
    email,
    { password = chosen, address = anotherAddress(), headers = {} } = {},
  ) =>
    test.current.call("POST", "/v2/sessions", {
      body: { email, password },
      key: null,
      headers: { "x-forwarded-for": address, ...headers },
    });

  return {
    trySignIn,
    add: async ({
      role = "owner",
      mustChange = false,
      siteIds = null,
      labelIds = null,
      isOperator = false,
      companyId,
    } = {}) => {
      const email = `${randomUUID()}@example.com`;
      const user = {
        id: randomUUID(),
        companyId: companyId ?? test.current.company.company_id,
        email,
        fullName: "Grace Hopper",
        firstName: "Grace",
        role,
        siteIds,
        labelIds,
        isOperator,
        passwordHash: await chosenHash(),
        mustChangePassword: mustChange,
      };
      await test.current.database.transaction().execute((transaction) => insertUser(transaction, user));
      return email;
    },
    signIn: async (email, options) => {
      const answer = await trySignIn(email, options);
      expect(answer.text).toContain(email);
      expect(answer.status).toBe(201);
      return cookieOf(answer);
    },
    call: (cookie, method, path, { body, headers = ownPage } = {}) =>
      test.current.call(method, `/v2${path}`, { body, key: null, headers: { cookie, ...headers } }),
    activityOf: async (email) => {
      const { call, company, database, flushActivity } = test.current;
      await flushActivity();
      const query = database.selectFrom("users").select("id").where("email", "=", email);
      const { id } = await query.executeTakeFirstOrThrow();
      const path = `/v2/company/${company.company_id}/activity-logs?limit=100&id_initiated_by=${id}`;
      return (await call("GET", path)).body.company.activity_logs.items;
    },
  };
}
