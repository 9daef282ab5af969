/** The passkeys of the caller's user: added and removed. */
import { randomUUID } from "node:crypto";
import {
  deletePasskey,
  insertPasskey,
  type KnownPasskey,
  listPasskeys,
} from "@sitewright/server/store/company/passkeys.ts";
import { endWithoutFactors, lockSecondFactor } from "@sitewright/server/store/company/secondFactors.ts";
import { endSessions } from "@sitewright/server/store/company/sessions.ts";
import type { Context } from "../context.ts";
import { NotFound, Refused } from "../failures.ts";
import { recordDone } from "./activityEntries.ts";
import { changeKeys } from "./apiKeys.ts";
import { challengeMilliseconds, makeChallenge, useAnsweredChallenge } from "./challenges.ts";
import { checkOwnPassword } from "./ownPassword.ts";
import { acceptedAlgorithms, checkNewPasskey, descriptors, type NewCredential } from "./passkeyChecks.ts";
import { passkeyHost } from "./passkeyPlaces.ts";
import { keepingCodes, viewOf, withNewCodes } from "./secondFactors.ts";

const maxPerUser = 20;

/** Options for the browser to make a passkey with, in this session. Throws `Refused` if the password is wrong. */
export async function begin(context: Context, password: string) {
  const host = passkeyHost(context.origin);
  const user = await checkOwnPassword(context, password);
  const existing = await listPasskeys(context.database, user.id);
  requireRoom(existing);
  return {
    challenge: makeChallenge(context, { kind: "add", subject: context.caller.keyId }, context.origin),
    rp: { id: host, name: "Sitewright" },
    user: {
      id: Buffer.from(user.id.replaceAll("-", ""), "hex").toString("base64url"),
      name: user.email,
      displayName: user.full_name,
    },
    pubKeyCredParams: acceptedAlgorithms.map((alg) => ({ alg, type: "public-key" as const })),
    timeout: challengeMilliseconds,
    attestation: "none" as const,
    excludeCredentials: descriptors(existing.filter(({ origin }) => new URL(origin).hostname === host)),
    authenticatorSelection: { residentKey: "preferred", userVerification: "preferred" } as const,
  };
}

interface NewPasskey {
  readonly name: string;
  readonly credential: NewCredential;
}

/** Adds a passkey that this session has asked for. The first second factor of a user ends their other sessions. Throws `Refused`. */
export async function add(context: Context, { name, credential }: NewPasskey) {
  const { userId, keyId } = context.caller;
  const purpose = { kind: "add", subject: keyId } as const;
  const { clientDataJSON } = credential.response;
  const challenge = await useAnsweredChallenge(context, context.inOwnTransaction, clientDataJSON, purpose);
  const checked = await checkNewPasskey(credential, challenge);
  const passkeyName = name.trim();
  return changeKeys(context, async (transaction) => {
    const before = await lockSecondFactor(transaction, userId);
    requireRoom(await listPasskeys(transaction, userId));
    const passkey = { ...checked, id: randomUUID(), userId, name: passkeyName, origin: challenge.origin };
    if (!(await insertPasskey(transaction, passkey))) {
      throw new Refused(
        "passkey_exists",
        "This passkey has been added already. Use another device or password manager.",
      );
    }
    const parameters = { passkeyName };
    await recordDone(context, transaction, { type: "addPasskey", category: "userManagement", parameters });
    if (before !== null && before.since !== null) return keepingCodes(context, transaction);
    await endSessions(transaction, userId, { except: keyId });
    return withNewCodes(context, transaction);
  });
}

/** Throws `Refused` if the password is wrong, and `NotFound` if the user has no such passkey. */
export async function remove(context: Context, id: string, password: string) {
  const user = await checkOwnPassword(context, password);
  return changeKeys(context, async (transaction) => {
    await lockSecondFactor(transaction, user.id);
    const passkeyName = await deletePasskey(transaction, user.id, id.toLowerCase());
    if (passkeyName === null) throw new NotFound();
    await endWithoutFactors(transaction, user.id);
    const parameters = { passkeyName };
    await recordDone(context, transaction, { type: "removePasskey", category: "userManagement", parameters });
    return viewOf(context, transaction);
  });
}

function requireRoom(existing: readonly KnownPasskey[]): void {
  if (existing.length < maxPerUser) return;
  throw new Refused("too_many_passkeys", `You have ${maxPerUser} passkeys. Remove one first.`);
}
