/** The second factor of people who sign in: codes of an authenticator app, passkeys, and recovery codes. */
import { Type } from "typebox";
import { endpoint, result } from "../endpoint.ts";
import { dateTime, nullable, uuid } from "../schema.ts";
import { code, password } from "./people.ts";

const Passkey = Type.Object(
  {
    id: uuid("Id of the passkey."),
    name: Type.String({ description: "Its name.", examples: ["Ada's phone"] }),
    created_at: dateTime("When it was added."),
    last_used_at: nullable(dateTime("When somebody last signed in with it; null: never.")),
    is_backed_up: Type.Boolean({ description: "Whether it is also kept elsewhere, such as in a password manager." }),
    origin: Type.String({
      description: "The console's address at which it works.",
      examples: ["https://sitewright.example.com"],
    }),
  },
  { title: "Passkey" },
);

export const SecondFactor = Type.Object(
  {
    since: nullable(dateTime("Since when the password alone is not enough to sign in; null: it is enough.")),
    app_since: nullable(dateTime("Since when codes of an authenticator app are accepted; null: there is none.")),
    passkeys: Type.Array(Passkey, { description: "The user's passkeys, oldest first." }),
    recovery_codes_left: Type.Integer({
      minimum: 0,
      description: "How many recovery codes have not been used.",
      examples: [10],
    }),
    is_required: Type.Boolean({ description: "Whether the company requires a second factor of all its users." }),
  },
  { title: "SecondFactor" },
);

export const RecoveryCodes = Type.Object(
  {
    second_factor: SecondFactor,
    recovery_codes: Type.Array(Type.String({ examples: ["k3xt-97pc-mh2d-w6va"] }), {
      description:
        "Each one can be used once, instead of a code of the app or a passkey. They are shown only in this response. Empty: the earlier ones stay valid.",
    }),
  },
  { title: "RecoveryCodes" },
);

export const PasswordCheck = Type.Object(
  { current_password: password("The present password.") },
  { title: "PasswordCheck" },
);

export const getSecondFactor = endpoint({
  method: "GET",
  path: "/session/second-factor",
  tag: "Sessions",
  summary: "Show the second factor",
  description: "Of the user of this session.",
  responses: { 200: result(["second_factor"], "The second factor.", SecondFactor) },
  verb: "read",
  resource: { kind: "session" },
});

export const beginSecondFactor = endpoint({
  method: "POST",
  path: "/session/second-factor",
  tag: "Sessions",
  summary: "Begin to add an authenticator app",
  description:
    "Returns a secret for an authenticator app, in the place of one that has not been confirmed. It changes nothing about signing in until a code of the app confirms it (`PUT /session/second-factor`).",
  body: PasswordCheck,
  responses: {
    201: result(
      [],
      "The secret for the app. It is shown only in this response.",
      Type.Object({
        secret: Type.String({
          description: "The secret in base 32, to be typed into the app.",
          examples: ["JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP"],
        }),
        uri: Type.String({
          description: "The same as an address that apps understand, usually shown as a QR code.",
          examples: ["otpauth://totp/Sitewright:ada%40example.com?secret=…"],
        }),
      }),
    ),
  },
  refusals: ["second_factor_exists", "wrong_credentials", "too_many_sign_ins"],
  verb: "write",
  role: "billing",
  resource: { kind: "session" },
  bucket: "creations",
});

export const confirmSecondFactor = endpoint({
  method: "PUT",
  path: "/session/second-factor",
  tag: "Sessions",
  summary: "Add an authenticator app",
  description:
    "From now on, signing in needs a second factor: a code of the app, a passkey or a recovery code. All other sessions of the user end. API keys stay valid.",
  body: Type.Object({ code }, { title: "SecondFactorConfirmation" }),
  responses: {
    200: result(
      [],
      "The app is in force. There are new recovery codes if the user had no second factor.",
      RecoveryCodes,
    ),
  },
  refusals: ["wrong_code", "second_factor_exists", "second_factor_not_begun"],
  verb: "write",
  role: "billing",
  resource: { kind: "session" },
});

export const replaceRecoveryCodes = endpoint({
  method: "POST",
  path: "/session/second-factor/recovery-codes",
  tag: "Sessions",
  summary: "Replace the recovery codes",
  description: "The earlier ones are refused when this call returns.",
  body: PasswordCheck,
  responses: { 201: result([], "The new codes.", RecoveryCodes) },
  refusals: ["no_second_factor", "wrong_credentials", "too_many_sign_ins"],
  verb: "write",
  role: "billing",
  resource: { kind: "session" },
  bucket: "creations",
});

export const removeAuthenticatorApp = endpoint({
  method: "DELETE",
  path: "/session/second-factor/app",
  tag: "Sessions",
  summary: "Remove the authenticator app",
  description: "If it is the user's last second factor, the recovery codes go with it.",
  body: PasswordCheck,
  responses: { 200: result(["second_factor"], "Codes of the app are no longer accepted.", SecondFactor) },
  refusals: ["no_authenticator_app", "wrong_credentials", "too_many_sign_ins"],
  verb: "write",
  role: "billing",
  resource: { kind: "session" },
  bucket: "creations",
});

export const removeSecondFactor = endpoint({
  method: "DELETE",
  path: "/session/second-factor",
  tag: "Sessions",
  summary: "Remove the second factor",
  description:
    "The app, all passkeys and the recovery codes. If the company requires one, the session can do nothing but add another.",
  body: PasswordCheck,
  responses: { 200: result(["second_factor"], "The password alone is enough to sign in.", SecondFactor) },
  refusals: ["no_second_factor", "wrong_credentials", "too_many_sign_ins"],
  verb: "write",
  role: "billing",
  resource: { kind: "session" },
  bucket: "creations",
});
