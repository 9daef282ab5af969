/**
 * Refused API keys in the activity log. A revoked or expired key appears in the log of its company, an unknown one in the
 * operator's. Why a key was refused is looked up when the entries are written, so that it can't be measured by the time that
 * a refusal takes.
 */

import { systemActor } from "@sitewright/server/store/company/activity.ts";
import { findKey } from "@sitewright/server/store/company/apiKeys.ts";
import type { Pool } from "pg";
import { clientNetwork } from "../traffic/networks.ts";
import type { Caller } from "./access.ts";
import type { RepeatableEvent, RepeatedActivity } from "./repeatedActivity.ts";
import { isSameHash, readToken } from "./token.ts";

export interface RefusedKeys {
  /** Counts a token that does not identify a caller. */
  unusable(token: string, ipAddress: string): void;
  /** Counts a call that the key may not make. */
  notAllowed(caller: Caller, ipAddress: string, call: string): void;
  /** Counts a request from an address that is not among the key's. */
  addressNotAllowed(caller: Caller, ipAddress: string): void;
  /** Counts a call about a resource of another company, which only the operator may learn. */
  foreign(caller: Caller, ipAddress: string, call: string): void;
  /** Writes the entries. */
  flush(): Promise<void>;
}

/** Different tokens and networks between two flushes. Further ones count as unknown keys of no address. */
const maxTokens = 1_000;
const category = "userManagement";

interface CountedToken {
  readonly id: string;
  readonly secretHash: Buffer;
  readonly ipAddress: string;
  count: number;
}

export function makeRefusedKeys(pool: Pool, repeated: RepeatedActivity): RefusedKeys {
  let tokens = new Map<string, CountedToken>();

  return {
    unusable: (token, ipAddress) => {
      const facts = readToken(token);
      const key = `${facts.id} ${facts.secretHash.toString("hex")} ${clientNetwork(ipAddress)}`;
      const found = tokens.get(key);
      if (found !== undefined) found.count += 1;
      else if (tokens.size < maxTokens) tokens.set(key, { ...facts, ipAddress, count: 1 });
      else repeated.note(unknownKey(null));
    },
    notAllowed: (caller, ipAddress, call) => repeated.note(keyEvent(caller, ipAddress, `It may not call ${call}.`)),
    addressNotAllowed: (caller, ipAddress) =>
      repeated.note(keyEvent(caller, ipAddress, "It is not accepted from this address.")),
    foreign: (caller, ipAddress, call) =>
      repeated.note({
        ...keyEvent(caller, ipAddress, `It belongs to another company than the target of ${call}.`),
        companyId: null,
        parameters: { keyName: caller.keyName, companyId: caller.companyId },
      }),
    flush: async () => {
      const noted = tokens;
      tokens = new Map();
      for (const [key, token] of noted) {
        try {
          repeated.note(await eventOf(pool, token), token.count);
          noted.delete(key);
        } catch (error) {
          tokens = new Map([...tokens, ...noted]);
          throw error;
        }
      }
      await repeated.flush();
    },
  };
}

/** Describes the refusal of a token. Rejects if the database does not answer. */
async function eventOf(pool: Pool, { id, secretHash, ipAddress }: CountedToken): Promise<RepeatableEvent> {
  const key = await findKey(pool, id, null);
  if (key === null || !isSameHash(key.secret_hash, secretHash)) return unknownKey(ipAddress);
  const isExpired = key.expires_at !== null && key.expires_at <= new Date();
  const owner = { keyId: key.key_id, keyName: key.key_name, companyId: key.company_id };
  return keyEvent(owner, ipAddress, isExpired ? "The key has expired." : "The key is revoked.");
}

function unknownKey(ipAddress: string | null): RepeatableEvent {
  const actor = { ...systemActor, ipAddress };
  const common = { companyId: null, siteId: null, category, type: "useApiKey", parameters: {} } as const;
  return { ...common, actor, publicError: "There is no such key." };
}

function keyEvent(
  { keyId, keyName, companyId }: Pick<Caller, "keyId" | "keyName" | "companyId">,
  ipAddress: string,
  publicError: string,
): RepeatableEvent {
  const actor = { ...systemActor, apiKeyId: keyId, apiKeyName: keyName, ipAddress };
  return { companyId, siteId: null, category, type: "useApiKey", parameters: { keyName }, actor, publicError };
}
