/** Signing in through the OpenID Connect provider that the operator has set up. */
import { Type } from "typebox";
import { endpoint } from "../endpoint.ts";
import { line, uuid } from "../schema.ts";
import { code, newPassword, password } from "./people.ts";
import { SignedIn } from "./sessions.ts";
import { UsedPasskey } from "./webAuthn.ts";

const purpose = Type.Enum(["sign_in", "link"], {
  description:
    "`sign_in`: to sign in (`POST /sessions/provider`). `link`: to link the account at the provider to the user who has signed in (`POST /session/provider-accounts`).",
});

export const beginProviderSignIn = endpoint({
  method: "POST",
  path: "/sessions/provider/begin",
  tag: "Sessions",
  summary: "Begin to sign in through the provider",
  description:
    "Returns the address of the provider's page, and sets a cookie that binds its answer to this browser for ten minutes. The provider sends the browser back to the console's page `/sign-in/provider`.",
  body: Type.Object({ purpose }, { title: "ProviderSignInBegin" }),
  responses: {
    201: {
      description: "The sign-in has begun.",
      body: Type.Object({
        url: Type.String({
          description: "The provider's page.",
          examples: ["https://login.example.com/auth?client_id=sitewright&…"],
        }),
      }),
    },
  },
  refusals: ["provider_unavailable"],
  verb: "write",
  resource: { kind: "anyone" },
  bucket: "creations",
});

export const readProviderAnswer = endpoint({
  method: "POST",
  path: "/sessions/provider/answer",
  tag: "Sessions",
  summary: "Read the answer of the provider",
  description:
    "Checks the answer with which the provider has sent the browser back, once, and starts no session. A cookie keeps who has signed in there, for ten minutes. Only e-mail addresses are accepted of which the provider says that they are verified.",
  body: Type.Object(
    {
      answer: Type.String({
        minLength: 1,
        maxLength: 8_000,
        description: "The query in the address of the page: what follows the `?`.",
        examples: ["code=…&state=…&iss=https%3A%2F%2Flogin.example.com"],
      }),
    },
    { title: "ProviderAnswer" },
  ),
  responses: {
    200: {
      description: "The answer is valid.",
      body: Type.Object({
        email: Type.String({
          description: "The e-mail address at the provider.",
          examples: ["ada@example.com"],
        }),
        purpose,
      }),
    },
  },
  refusals: ["provider_unavailable", "provider_answer_unusable", "provider_email_refused"],
  verb: "write",
  resource: { kind: "anyone" },
  bucket: "creations",
});

export const signInWithProvider = endpoint({
  method: "POST",
  path: "/sessions/provider",
  tag: "Sessions",
  summary: "Sign in with an account at the provider",
  description: `Starts a session, as \`POST /sessions\` does, for the account at the provider that \`POST /sessions/provider/answer\` has read. Users with a second factor need it here, too.

An account that is not linked to a user yet is linked to the one with the same e-mail address if \`password\` is that user's, or to a new user who accepts an invitation to this address. Nobody else becomes a user.`,
  body: Type.Object(
    {
      password: Type.Optional({
        ...password("The user's password."),
        description:
          "The password of the user with the e-mail address of the account. Needed once, to link the account.",
      }),
      code: Type.Optional({
        ...code,
        description: "The present code of the authenticator app, or a recovery code. Send either this or `passkey`.",
      }),
      passkey: Type.Optional(UsedPasskey),
      invitation: Type.Optional(
        Type.Object(
          {
            id: uuid("Id of the invitation to accept."),
            full_name: line(200, "Full name of the person.", "Ada Lovelace"),
            password: newPassword("For signing in without the provider, and before changes to the sign-in."),
          },
          { description: "Accepts an invitation to the e-mail address of the account." },
        ),
      ),
    },
    { title: "ProviderSignIn" },
  ),
  responses: { 201: { description: "The session has been started.", body: SignedIn } },
  refusals: [
    "provider_unavailable",
    "provider_answer_unusable",
    "provider_user_unknown",
    "provider_account_taken",
    "password_needed",
    "acceptance_needed",
    "wrong_credentials",
    "second_factor_needed",
    "wrong_code",
    "wrong_passkey",
    "too_many_sign_ins",
    "invitation_unusable",
    "password_too_weak",
    "user_exists",
  ],
  verb: "write",
  resource: { kind: "anyone" },
  bucket: "creations",
});
