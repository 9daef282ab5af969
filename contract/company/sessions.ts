/** Sessions of people who sign in with e-mail address and password, such as in the console. */
import { Type } from "typebox";
import { endpoint, result } from "../endpoint.ts";
import { dateTime, nullable, uuid } from "../schema.ts";
import { code, newPassword, password, permissions, role, siteIds } from "./people.ts";
import { UsedPasskey } from "./webAuthn.ts";

const optionalText = (description: string, example: string) =>
  nullable(Type.String({ description: `${description}, or null.`, examples: [example] }));

const Session = Type.Object(
  {
    id: uuid("Id of the session."),
    is_current: Type.Boolean({ description: "Whether it is the session of this request." }),
    created_at: dateTime("When the user signed in."),
    last_used_at: nullable(dateTime("When it was last used, to the minute; null: not since the sign-in.")),
    expires_at: dateTime("When it ends. It ends earlier if it is not used for three days."),
    ip_address: optionalText("IP address of the sign-in", "203.0.113.7"),
    browser_name: optionalText("Name of the browser", "Firefox"),
    os_name: optionalText("Operating system", "Linux"),
  },
  { title: "Session" },
);

export const SignedIn = Type.Object(
  {
    session: Session,
    user: Type.Object({
      id: uuid("Id of the user."),
      email: Type.String({ description: "The user's e-mail address.", examples: ["ada@example.com"] }),
      full_name: Type.String({ description: "Full name.", examples: ["Ada Lovelace"] }),
      first_name: Type.String({ description: "First name.", examples: ["Ada"] }),
      role,
      site_ids: siteIds,
      image: Type.String({
        description: "The user's initials as an SVG image, in a `data:` address.",
        examples: ["data:image/svg+xml,%3Csvg%20xmlns=%22http://www.w3.org/2000/svg%22/%3E"],
      }),
    }),
    company: Type.Object({
      id: uuid("Id of the user's company."),
      name: Type.String({ description: "Name of the company.", examples: ["Example Agency"] }),
    }),
    permissions,
    is_operator: Type.Boolean({
      description: "Whether the user is an operator of the installation (`GET /operator/installation`).",
    }),
    must_change_password: Type.Boolean({
      description: "Whether the user has to choose a password before anything else (`PUT /session/password`).",
    }),
    has_second_factor: Type.Boolean({ description: "Whether the user needs a second factor to sign in." }),
    must_add_second_factor: Type.Boolean({
      description:
        "Whether the user has to add a second factor before anything else (`POST /session/second-factor` or `/session/passkeys/options`), because the company requires one.",
    }),
  },
  { title: "SignedIn" },
);

const signInDescription = `Starts a session. The response sets a cookie that scripts can't read; requests with it need no API key. It is sent only by pages of the API's own origin, and requests that change something are refused (\`cross_site_request\`) unless \`Sec-Fetch-Site\` or \`Origin\` says that such a page sent them.

From the fifth wrong password, code or passkey of a network on, each one makes the next attempt wait longer. The answer does not depend on whether the e-mail address exists.`;

export const signIn = endpoint({
  method: "POST",
  path: "/sessions",
  tag: "Sessions",
  summary: "Sign in",
  description: signInDescription,
  body: Type.Object(
    {
      email: Type.String({
        minLength: 1,
        maxLength: 254,
        description: "E-mail address of the user. Case is ignored.",
        examples: ["ada@example.com"],
      }),
      password: password("The user's password."),
      code: Type.Optional({
        ...code,
        description:
          "The present code of the authenticator app, or a recovery code. If the user has a second factor, the right password alone gets `second_factor_needed`; send either this or `passkey` with it. Each code is accepted once.",
      }),
      passkey: Type.Optional(UsedPasskey),
    },
    { title: "SignIn" },
  ),
  responses: { 201: { description: "The session has been started.", body: SignedIn } },
  refusals: ["wrong_credentials", "second_factor_needed", "wrong_code", "wrong_passkey", "too_many_sign_ins"],
  verb: "write",
  resource: { kind: "anyone" },
  bucket: "creations",
});

export const getSession = endpoint({
  method: "GET",
  path: "/session",
  tag: "Sessions",
  summary: "Show the session of this request",
  description: "With its user and company.",
  responses: { 200: result([], "The session.", SignedIn) },
  verb: "read",
  resource: { kind: "session" },
});

export const signOut = endpoint({
  method: "DELETE",
  path: "/session",
  tag: "Sessions",
  summary: "Sign out",
  description: "Ends the session of this request, and removes its cookie. API keys that were created in it stay valid.",
  responses: { 200: { description: "The session has ended.", body: Type.Object({ session: Session }) } },
  verb: "write",
  role: "billing",
  resource: { kind: "session" },
});

export const changePassword = endpoint({
  method: "PUT",
  path: "/session/password",
  tag: "Sessions",
  summary: "Change the password",
  description:
    "Of the user of this session. All other sessions of the user end. API keys stay valid. Short passwords and those that are easy to guess, among them passwords known from breaches, are refused.",
  body: Type.Object(
    {
      current_password: password("The present password."),
      new_password: newPassword("The new password."),
    },
    { title: "PasswordChange" },
  ),
  responses: { 200: result([], "The password has been changed.", SignedIn) },
  refusals: ["wrong_credentials", "too_many_sign_ins", "password_too_weak"],
  verb: "write",
  role: "billing",
  resource: { kind: "session" },
  bucket: "creations",
});

export const listSessions = endpoint({
  method: "GET",
  path: "/sessions",
  tag: "Sessions",
  summary: "List the user's sessions",
  description: "Those that have not ended, newest first.",
  responses: { 200: result(["sessions"], "The sessions.", Type.Array(Session)) },
  verb: "read",
  resource: { kind: "session" },
});

export const endSession = endpoint({
  method: "DELETE",
  path: "/sessions/{session_id}",
  tag: "Sessions",
  summary: "End a session",
  description: "A session of the same user. Its cookie is refused as soon as this call returns.",
  params: Type.Object({ session_id: uuid("Id of the session.") }),
  responses: { 200: result(["session"], "The session has ended.", Session) },
  verb: "write",
  role: "billing",
  resource: { kind: "session" },
});

export const endOtherSessions = endpoint({
  method: "DELETE",
  path: "/sessions",
  tag: "Sessions",
  summary: "End all other sessions",
  description: "All sessions of the user except that of this request.",
  responses: { 200: result(["sessions"], "The sessions that have ended.", Type.Array(Session)) },
  verb: "write",
  role: "billing",
  resource: { kind: "session" },
});
