/** Passkeys, with which people sign in: after the password, or instead of it. */
import { Type } from "typebox";
import { endpoint, result } from "../endpoint.ts";
import { line, uuid } from "../schema.ts";
import { PasswordCheck, RecoveryCodes, SecondFactor } from "./secondFactors.ts";
import { SignedIn } from "./sessions.ts";
import { NewPasskey, PasskeyCreation, PasskeyRequest, UsedPasskey } from "./webAuthn.ts";

export const beginPasskey = endpoint({
  method: "POST",
  path: "/session/passkeys/options",
  tag: "Sessions",
  summary: "Begin to add a passkey",
  description:
    "Returns options for `navigator.credentials.create` in a page of the API's own origin, which must be HTTPS or `http://localhost`.",
  body: PasswordCheck,
  responses: { 201: result(["options"], "The options, for this session.", PasskeyCreation) },
  refusals: ["passkeys_unavailable", "too_many_passkeys", "wrong_credentials", "too_many_sign_ins"],
  verb: "write",
  role: "billing",
  resource: { kind: "session" },
  bucket: "creations",
});

export const addPasskey = endpoint({
  method: "POST",
  path: "/session/passkeys",
  tag: "Sessions",
  summary: "Add a passkey",
  description:
    "From now on, signing in needs a second factor: this passkey, another one, a code of the authenticator app, or a recovery code. If it is the user's first second factor, all their other sessions end. A passkey that checks its user, by fingerprint for example, also signs in without the password.",
  body: Type.Object(
    { name: line(100, "A name to recognise it by.", "Ada's phone"), credential: NewPasskey },
    { title: "PasskeyAdd" },
  ),
  responses: {
    201: result(
      [],
      "The passkey has been added. There are new recovery codes if the user had no second factor.",
      RecoveryCodes,
    ),
  },
  refusals: ["wrong_passkey", "passkey_exists", "too_many_passkeys"],
  verb: "write",
  role: "billing",
  resource: { kind: "session" },
  bucket: "creations",
});

export const removePasskey = endpoint({
  method: "DELETE",
  path: "/session/passkeys/{passkey_id}",
  tag: "Sessions",
  summary: "Remove a passkey",
  description: "If it is the user's last second factor, the recovery codes go with it.",
  params: Type.Object({ passkey_id: uuid("Id of the passkey.") }),
  body: PasswordCheck,
  responses: { 200: result(["second_factor"], "The passkey is no longer accepted.", SecondFactor) },
  refusals: ["wrong_credentials", "too_many_sign_ins"],
  verb: "write",
  role: "billing",
  resource: { kind: "session" },
  bucket: "creations",
});

export const beginPasskeySignIn = endpoint({
  method: "POST",
  path: "/sessions/passkey/options",
  tag: "Sessions",
  summary: "Begin to sign in with a passkey alone",
  description:
    "Returns options for `navigator.credentials.get` in a page of the API's own origin, which must be HTTPS or `http://localhost`.",
  responses: {
    201: { description: "The options.", body: Type.Object({ options: PasskeyRequest }) },
  },
  refusals: ["passkeys_unavailable"],
  verb: "write",
  resource: { kind: "anyone" },
});

export const signInWithPasskey = endpoint({
  method: "POST",
  path: "/sessions/passkey",
  tag: "Sessions",
  summary: "Sign in with a passkey alone",
  description:
    "Starts a session, as `POST /sessions` does. The passkey must have checked its user, by fingerprint or PIN for example: it is then two factors in one.",
  body: Type.Object({ credential: UsedPasskey }, { title: "PasskeySignIn" }),
  responses: { 201: { description: "The session has been started.", body: SignedIn } },
  refusals: ["wrong_passkey"],
  verb: "write",
  resource: { kind: "anyone" },
  bucket: "creations",
});
