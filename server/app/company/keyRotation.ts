/** Replaces an API key by a successor, next to which it stays valid for a while. */
import {
  insertApiKey,
  isCreatedWith,
  type NewApiKey,
  replaceApiKey,
  type ShownKey,
} from "@sitewright/server/store/company/apiKeys.ts";
import type { Context } from "../context.ts";
import { NotFound, Refused } from "../failures.ts";
import { changeKeys, type KeyView, lockOwnKey, record, shown, view } from "./apiKeys.ts";
import { requireRoomFor } from "./limits.ts";
import { makeToken, readToken } from "./token.ts";

interface Rotated {
  readonly api_key: KeyView;
  readonly token: string;
  readonly replaced_key: KeyView;
}

const hourMilliseconds = 3_600_000;

/**
 * Creates a key with the name, scopes, addresses and expiry of the given one, which expires after the overlap. The successor
 * takes its place: keys created with the old one count as created with the successor. Only its user in a session, the key itself and
 * the keys above it can do so, because the caller gets the successor's token.
 */
export function rotate(context: Context, keyId: string, overlapHours: number): Promise<Rotated> {
  const { caller } = context;
  return changeKeys(context, async (transaction) => {
    const key = await lockOwnKey(context, transaction, keyId);
    const isOwn = caller.kind === "session" && key.user_id === caller.userId;
    if (!isOwn && !(await isCreatedWith(transaction, keyId, caller.keyId))) {
      const message =
        "Only its user, the key itself, or a key above it, can rotate it. Create a new key instead, and revoke this one.";
      throw new Refused("key_not_below", message);
    }
    const now = new Date();
    refuseUnusable(key, now);
    // Both keys are valid during the overlap, so rotating again and again would otherwise exceed the limit.
    if (overlapHours > 0) await requireRoomFor(context, transaction, { api_keys: 1 });
    const token = makeToken();
    const successor: NewApiKey = {
      ...readToken(token),
      companyId: caller.companyId,
      userId: key.user_id,
      name: key.name,
      scopes: key.scopes,
      expiresAt: key.expires_at,
      allowedAddresses: key.allowed_addresses,
      createdBy: key.created_by,
    };
    await insertApiKey(transaction, successor);
    const expiresAt = new Date(now.getTime() + overlapHours * hourMilliseconds);
    const replaced = await replaceApiKey(transaction, keyId, successor.id, expiresAt);
    await record(context, transaction, "rotateApiKey", key.name);
    return { api_key: view(shown(successor), now), token, replaced_key: view(replaced, now) };
  });
}

function refuseUnusable(key: ShownKey, now: Date): void {
  if (key.revoked_at || (key.expires_at && key.expires_at <= now)) throw new NotFound();
  if (key.replaced_by) {
    const message = "This key has been rotated already. Rotate its successor.";
    throw new Refused("key_already_rotated", message, { replaced_by: key.replaced_by });
  }
}
