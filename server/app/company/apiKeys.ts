/** API keys: who sees which, what a new one may do, and how one stops working. */
import {
  insertApiKey,
  listApiKeys,
  lockApiKey,
  type NewApiKey,
  revokeApiKey,
  type ShownKey,
} from "@sitewright/server/store/company/apiKeys.ts";
import { knownSiteIds } from "@sitewright/server/store/sites/sites.ts";
import type { Context } from "../context.ts";
import { NotAllowed, NotFound, Refused } from "../failures.ts";
import { readTimestamp } from "../timestamps.ts";
import { hasRole } from "./access.ts";
import { recordDone } from "./activityEntries.ts";
import { grantedScopes } from "./scopes.ts";
import { makeToken, readToken } from "./token.ts";

export type KeyStatus = "active" | "revoked" | "expired";

export interface KeyView {
  readonly id: string;
  readonly name: string;
  readonly status: KeyStatus;
  readonly expires_at: string | null;
  readonly scopes: string[] | null;
}

function view(key: ShownKey, now: Date): KeyView {
  const isExpired = key.expires_at !== null && key.expires_at <= now;
  return {
    id: key.id,
    name: key.name,
    status: key.revoked_at ? "revoked" : isExpired ? "expired" : "active",
    expires_at: key.expires_at?.toISOString() ?? null,
    scopes: key.scopes ? [...key.scopes] : null,
  };
}

/** Everybody's keys for those who run the company, one's own for others. */
export async function list(context: Context): Promise<KeyView[]> {
  const { caller } = context;
  const keys = await listApiKeys(context.database, caller.companyId, hasRole(caller, "admin") ? null : caller.userId);
  const now = new Date();
  return keys.map((key) => view(key, now));
}

export interface KeyWish {
  readonly name: string;
  readonly expires_at?: string | null;
  readonly scopes?: readonly string[] | null;
}

/** Makes a key for the caller's own user that can do no more than the calling key. Returns its token, this once. */
export async function create(context: Context, wish: KeyWish): Promise<{ api_key: KeyView; token: string }> {
  const { caller } = context;
  const expiresAt = wish.expires_at ? readTimestamp(wish.expires_at) : null;
  if (expiresAt && !(expiresAt > new Date())) {
    throw new Refused("expiry_in_the_past", "An API key can't expire before it is made.");
  }
  const scopes = grantedScopes(caller.scopes, wish.scopes ?? null);
  await refuseUnknownSites(context, scopes);
  const token = makeToken();
  const key: NewApiKey = {
    ...readToken(token),
    companyId: caller.companyId,
    userId: caller.userId,
    name: wish.name,
    scopes,
    expiresAt,
  };
  await context.inTransaction(async (transaction) => {
    await insertApiKey(transaction, key);
    const parameters = { keyName: wish.name };
    await recordDone(context, transaction, { type: "createApiKey", category: "userManagement", parameters });
  });
  const shown = { id: key.id, name: key.name, user_id: key.userId, scopes, expires_at: expiresAt, revoked_at: null };
  return { api_key: view(shown, new Date()), token };
}

/** A second revocation changes nothing, the time of the first included. */
export function revoke(context: Context, keyId: string): Promise<KeyView> {
  const { caller } = context;
  return context.inTransaction(async (transaction) => {
    const key = await lockApiKey(transaction, caller.companyId, keyId);
    if (!key) throw new NotFound();
    if (key.user_id !== caller.userId && !hasRole(caller, "admin")) throw new NotAllowed("role:admin");
    const now = new Date();
    if (!key.revoked_at) await revokeApiKey(transaction, keyId, now);
    const parameters = { keyName: key.name };
    await recordDone(context, transaction, { type: "revokeApiKey", category: "userManagement", parameters });
    return view({ ...key, revoked_at: key.revoked_at ?? now }, now);
  });
}

async function refuseUnknownSites(context: Context, scopes: readonly string[] | null): Promise<void> {
  const wanted = (scopes ?? [])
    .filter((scope) => scope.startsWith("site:"))
    .map((scope) => scope.slice("site:".length));
  if (wanted.length === 0) return;
  const found = await knownSiteIds(context.database, context.caller.companyId, wanted);
  const unknown = wanted.filter((id) => !found.has(id));
  if (unknown.length > 0) {
    throw new Refused("unknown_site_scope", `The company has no site with the id ${unknown[0]}.`, { unknown });
  }
}
