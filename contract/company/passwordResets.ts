/** New passwords for people who have lost theirs: by a link in a mail. */
import { Type } from "typebox";
import { endpoint } from "../endpoint.ts";
import { dateTime, nullable } from "../schema.ts";
import { newPassword } from "./people.ts";

export const getSignInOptions = endpoint({
  method: "GET",
  path: "/sign-in-options",
  tag: "Sessions",
  summary: "Show how people can sign in here",
  description: "Depends on the installation, and on the address of the request.",
  responses: {
    200: {
      description: "The ways to sign in.",
      body: Type.Object({
        sign_in_options: Type.Object(
          {
            resets_passwords_by_mail: Type.Boolean({
              description:
                "Whether a lost password can be replaced with a link in a mail (`POST /password-resets`). Otherwise the operator replaces it.",
            }),
            provider: nullable(
              Type.Object(
                {
                  name: Type.String({ description: "Its name, for a button.", examples: ["Example Login"] }),
                  unavailable_because: nullable(
                    Type.String({
                      description: "Why it can't be used at this address; null: it can.",
                      examples: ["Signing in with Example Login needs HTTPS."],
                    }),
                  ),
                },
                {
                  description:
                    "The OpenID Connect provider with which people can sign in (`POST /sessions/provider/begin`); null: there is none.",
                },
              ),
            ),
            passkeys_unavailable_because: nullable(
              Type.String({
                description: "Why passkeys can't be used at this address; null: they can.",
                examples: ["Passkeys need HTTPS."],
              }),
            ),
          },
          { title: "SignInOptions" },
        ),
      }),
    },
  },
  verb: "read",
  resource: { kind: "anyone" },
});

export const requestPasswordReset = endpoint({
  method: "POST",
  path: "/password-resets",
  tag: "Sessions",
  summary: "Ask for a link to choose a new password",
  description:
    "The link is mailed to the address if somebody has it, works once, and is valid for 30 minutes. The answer and its time do not depend on whether anybody has the address.",
  body: Type.Object(
    {
      email: Type.String({
        minLength: 1,
        maxLength: 254,
        description: "E-mail address of the user. Case is ignored.",
        examples: ["ada@example.com"],
      }),
    },
    { title: "PasswordResetRequest" },
  ),
  responses: {
    200: {
      description: "If somebody has this address, they get a mail.",
      body: Type.Object({
        valid_minutes: Type.Integer({ description: "For how long the link is valid. Minutes.", examples: [30] }),
      }),
    },
  },
  refusals: ["no_resets_by_mail", "too_many_password_resets"],
  verb: "write",
  resource: { kind: "anyone" },
  bucket: "creations",
});

const token = Type.String({
  minLength: 1,
  maxLength: 200,
  description: "The part of the link after the `#`.",
  examples: ["sr_…"],
});

const email = Type.String({ description: "The user's e-mail address.", examples: ["ada@example.com"] });

export const checkPasswordReset = endpoint({
  method: "POST",
  path: "/password-resets/check",
  tag: "Sessions",
  summary: "Check the link of a password reset",
  description: "Changes nothing.",
  body: Type.Object({ token }, { title: "PasswordResetCheck" }),
  responses: {
    200: {
      description: "The link is valid.",
      body: Type.Object({
        password_reset: Type.Object({ email, expires_at: dateTime("Until when the link is valid.") }),
      }),
    },
  },
  refusals: ["password_reset_unusable"],
  verb: "write",
  resource: { kind: "anyone" },
});

export const completePasswordReset = endpoint({
  method: "POST",
  path: "/password-resets/complete",
  tag: "Sessions",
  summary: "Choose a new password with a link",
  description:
    "All sessions of the user end; API keys stay valid. It starts no session: sign in with the new password, and with the second factor if there is one.",
  body: Type.Object({ token, new_password: newPassword("The new password.") }, { title: "PasswordResetComplete" }),
  responses: {
    200: {
      description: "The password has been changed.",
      body: Type.Object({ user: Type.Object({ email }) }),
    },
  },
  refusals: ["password_reset_unusable", "password_too_weak"],
  verb: "write",
  resource: { kind: "anyone" },
  bucket: "creations",
});
