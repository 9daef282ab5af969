/** Checks what browsers send about passkeys, with the library SimpleWebAuthn. */
import {
  type NewPasskey as NewPasskeySchema,
  transportNames,
  type UsedPasskey as UsedPasskeySchema,
} from "@sitewright/contract/company/webAuthn.ts";
import type { KnownPasskey, LockedPasskey } from "@sitewright/server/store/company/passkeys.ts";
import type { Static } from "typebox";
import { type AnsweredChallenge, wrongPasskey } from "./challenges.ts";

export type NewCredential = Static<typeof NewPasskeySchema>;
export type UsedCredential = Static<typeof UsedPasskeySchema>;

/** Loaded when it is needed: it takes long, and the start of the process doesn't need it. */
const library = () => import("@simplewebauthn/server");

/** ECDSA with SHA-256, EdDSA and RSA: every authenticator has one of them. */
export const acceptedAlgorithms = [-7, -8, -257];

export interface CheckedPasskey {
  readonly credential_id: string;
  readonly public_key: Buffer;
  readonly counter: number;
  readonly canBeBackedUp: boolean;
  readonly isBackedUp: boolean;
  readonly transports: readonly string[];
}

/** Throws `Refused` unless a page of the challenge's origin has made the passkey for this challenge. */
export async function checkNewPasskey(
  { id, type, response }: NewCredential,
  { text, origin }: AnsweredChallenge,
): Promise<CheckedPasskey> {
  const { verifyRegistrationResponse } = await library();
  const { clientDataJSON, attestationObject, transports = [] } = response;
  const { registrationInfo } = await verifyRegistrationResponse({
    response: { id, rawId: id, type, response: { clientDataJSON, attestationObject }, clientExtensionResults: {} },
    expectedChallenge: text,
    expectedOrigin: origin,
    expectedRPID: new URL(origin).hostname,
    requireUserVerification: false,
    supportedAlgorithmIDs: acceptedAlgorithms,
  }).catch((error: unknown) => {
    throw wrongPasskey(reasonOf(error));
  });
  if (registrationInfo === undefined) throw wrongPasskey("Its signature is invalid.");
  const { credential, credentialDeviceType, credentialBackedUp } = registrationInfo;
  return {
    credential_id: credential.id,
    public_key: Buffer.from(credential.publicKey),
    counter: credential.counter,
    canBeBackedUp: credentialDeviceType === "multiDevice",
    isBackedUp: credentialBackedUp,
    transports: transportNames.filter((name) => transports.includes(name)),
  };
}

/**
 * Throws `Refused` unless the passkey has signed this challenge in a page of the origin at which it was added, and more often than the
 * last time: otherwise it may be a copy. `mustVerifyUser`: by fingerprint or PIN, for example.
 */
export async function checkUsedPasskey(
  { id, type, response }: UsedCredential,
  { text, origin }: AnsweredChallenge,
  passkey: LockedPasskey,
  { mustVerifyUser }: { readonly mustVerifyUser: boolean },
): Promise<{ readonly counter: number; readonly isBackedUp: boolean }> {
  if (origin !== passkey.origin) throw wrongPasskey(`It belongs to ${passkey.origin}.`);
  const { verifyAuthenticationResponse } = await library();
  const { clientDataJSON, authenticatorData, signature } = response;
  const { verified, authenticationInfo } = await verifyAuthenticationResponse({
    response: {
      id,
      rawId: id,
      type,
      response: { clientDataJSON, authenticatorData, signature },
      clientExtensionResults: {},
    },
    expectedChallenge: text,
    expectedOrigin: origin,
    expectedRPID: new URL(origin).hostname,
    credential: { id, publicKey: new Uint8Array(passkey.public_key), counter: passkey.counter },
    requireUserVerification: mustVerifyUser,
  }).catch((error: unknown) => {
    throw wrongPasskey(reasonOf(error));
  });
  if (!verified) throw wrongPasskey("Its signature is invalid.");
  return { counter: authenticationInfo.newCounter, isBackedUp: authenticationInfo.credentialBackedUp };
}

/** In our own words, because the library quotes what it was given. */
function reasonOf(error: unknown): string {
  const message = error instanceof Error ? error.message : "";
  if (message.includes("origin")) return "It was used in a page of another address.";
  if (message.includes("RP ID")) return "It is bound to another host name.";
  if (message.includes("counter")) return "It was used elsewhere meanwhile, so it may have been copied. Remove it.";
  if (message.includes("User verification")) return "It has to check you, by fingerprint or PIN for example.";
  return "What the browser sent is invalid.";
}

/** Passkeys as browsers name them. */
export const descriptors = (passkeys: readonly KnownPasskey[]) =>
  passkeys.map(({ credential_id, transports }) => ({
    id: credential_id,
    type: "public-key" as const,
    transports: transportNames.filter((name) => transports.includes(name)),
  }));
