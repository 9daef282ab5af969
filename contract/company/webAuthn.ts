/**
 * What browsers get and return when they make or use a passkey: the JSON forms of Web Authentication
 * (https://www.w3.org/TR/webauthn-3/), which `PublicKeyCredential` reads and writes.
 */
import { Type } from "typebox";
import { pattern } from "../schema.ts";

const base64url = pattern("^[A-Za-z0-9_-]+$", "must be base64url without padding");

/** Bytes that a browser sends. */
const bytes = (maxLength: number, description: string) =>
  Type.String({ minLength: 1, maxLength, pattern: base64url, description, examples: ["AYJx3Tzb9kQ"] });

const text = (description: string, example: string) => Type.String({ description, examples: [example] });
const type = Type.Enum(["public-key"], { description: "Always `public-key`." });

/** The ways to a passkey that browsers know today. */
export const transportNames = ["ble", "cable", "hybrid", "internal", "nfc", "smart-card", "usb"] as const;

const transports = Type.Array(Type.Enum(transportNames), {
  description: "How the browser reaches the passkey.",
  examples: [["internal", "hybrid"]],
});
const anyTransports = Type.Array(Type.String({ maxLength: 50 }), {
  maxItems: 20,
  description: "How the browser reaches the passkey.",
  examples: [["internal", "hybrid"]],
});

const challenge = text("To be signed. Accepted once, within five minutes.", "c3drMQ…");
const timeout = Type.Integer({ description: "Milliseconds.", examples: [300_000] });
const known = (description: string) =>
  Type.Array(Type.Object({ id: text("Id of the passkey at its authenticator.", "AYJx3Tzb9kQ"), type, transports }), {
    description,
  });

/** For `navigator.credentials.create`. */
export const PasskeyCreation = Type.Object(
  {
    challenge,
    rp: Type.Object({
      id: text("The host name that the passkey is bound to.", "sitewright.example.com"),
      name: text("Always `Sitewright`.", "Sitewright"),
    }),
    user: Type.Object({
      id: text("Id of the user, as bytes.", "VPuAr1dsT9y6T7WWyD8VoQ"),
      name: text("The user's e-mail address.", "ada@example.com"),
      displayName: text("The user's full name.", "Ada Lovelace"),
    }),
    pubKeyCredParams: Type.Array(
      Type.Object({ alg: Type.Integer({ description: "COSE number of the algorithm.", examples: [-7] }), type }),
      { description: "The accepted algorithms, the preferred one first." },
    ),
    timeout,
    attestation: Type.Literal("none", { description: "Always `none`." }),
    excludeCredentials: known("The passkeys that the user has at this host."),
    authenticatorSelection: Type.Object({
      residentKey: Type.Literal("preferred", {
        description: "Always `preferred`, so that it can also be used without the e-mail address.",
      }),
      userVerification: Type.Literal("preferred", { description: "Always `preferred`." }),
    }),
  },
  { title: "PasskeyCreation" },
);

/** For `navigator.credentials.get`. */
export const PasskeyRequest = Type.Object(
  {
    challenge,
    rpId: text("The host name that the passkey is bound to.", "sitewright.example.com"),
    timeout,
    userVerification: Type.Enum(["required", "discouraged"], {
      description: "`required` for a sign-in without the password, otherwise `discouraged`.",
    }),
    allowCredentials: known("The passkeys that are accepted; empty: all of this host."),
  },
  { title: "PasskeyRequest" },
);

const id = bytes(1_400, "Id of the passkey at its authenticator.");
const clientDataJSON = bytes(4_000, "What the browser has signed.");

/** The answer of `navigator.credentials.create`. */
export const NewPasskey = Type.Object(
  {
    id,
    type,
    response: Type.Object({
      clientDataJSON,
      attestationObject: bytes(20_000, "The public key."),
      transports: Type.Optional(anyTransports),
    }),
  },
  { title: "NewPasskey", description: "What `navigator.credentials.create` returned, as `toJSON()` writes it." },
);

/** The answer of `navigator.credentials.get`. */
export const UsedPasskey = Type.Object(
  {
    id,
    type,
    response: Type.Object({
      clientDataJSON,
      authenticatorData: bytes(4_000, "Flags and the counter of the authenticator."),
      signature: bytes(2_000, "The signature."),
      userHandle: Type.Optional(bytes(100, "Id of the user, as bytes.")),
    }),
  },
  { title: "UsedPasskey", description: "What `navigator.credentials.get` returned, as `toJSON()` writes it." },
);
