/** API keys: lists, creates and revokes them. */
import {
  insertApiKey,
  listApiKeys,
  lockApiKey,
  lockCreatingKey,
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
import { requireRoomFor } from "./limits.ts";
import { grantedScopes } from "./scopes.ts";
import { makeToken, readToken } from "./token.ts";

type KeyStatus = "active" | "revoked" | "expired";

interface KeyView {
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

/** Lists all keys of the company for admins and owners, and the caller's own keys for others. */
export async function list(context: Context): Promise<KeyView[]> {
  const { caller } = context;
  const keys = await listApiKeys(context.database, caller.companyId, hasRole(caller, "admin") ? null : caller.userId);
  const now = new Date();
  return keys.map((key) => view(key, now));
}

interface KeyRequest {
  readonly name: string;
  readonly expires_at?: string | null;
  readonly scopes?: readonly string[] | null;
}

/**
 * Creates a key for the caller's user with at most the permissions and the lifetime of the calling key. Its token is returned
 * only once.
 */
export async function create(context: Context, request: KeyRequest): Promise<{ api_key: KeyView; token: string }> {
  const { caller } = context;
  const expiresAt = request.expires_at ? readTimestamp(request.expires_at) : null;
  if (expiresAt && !(expiresAt > new Date())) {
    throw new Refused("expiry_in_the_past", "expires_at is in the past. Send a later time, or leave it out.");
  }
  const scopes = grantedScopes(caller.scopes, request.scopes ?? null);
  await refuseUnknownSites(context, scopes);
  const token = makeToken();
  const key: NewApiKey = {
    ...readToken(token),
    companyId: caller.companyId,
    userId: caller.userId,
    name: request.name,
    scopes,
    expiresAt: earlier(expiresAt, caller.expiresAt),
    createdBy: caller.keyId,
  };
  await context.inTransaction(async (transaction) => {
    if (!(await lockCreatingKey(transaction, caller.keyId))) throw new NotFound();
    await requireRoomFor(context, transaction, { api_keys: 1 });
    await insertApiKey(transaction, key);
    const parameters = { keyName: request.name };
    await recordDone(context, transaction, { type: "createApiKey", category: "userManagement", parameters });
  });
  const created = {
    id: key.id,
    name: key.name,
    user_id: key.userId,
    scopes,
    expires_at: key.expiresAt,
    revoked_at: null,
  };
  return { api_key: view(created, new Date()), token };
}

/** The earlier of two times; null is never. */
function earlier(one: Date | null, other: Date | null): Date | null {
  if (one === null || other === null) return one ?? other;
  return one < other ? one : other;
}

/** Revokes the key and all keys created with it. Revoking it again keeps the original time. */
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
