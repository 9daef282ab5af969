/** API keys: lists, creates and revokes them. */
import {
  findPermissions,
  insertApiKey,
  isCreatedWith,
  listApiKeys,
  lockApiKey,
  lockCreatingKey,
  type NewApiKey,
  revokeApiKey,
  type ShownKey,
  setAllowedAddresses,
} from "@sitewright/server/store/company/apiKeys.ts";
import { lockCompany } from "@sitewright/server/store/company/companyLimits.ts";
import type { DatabaseTransaction } from "@sitewright/server/store/database.ts";
import { knownSiteIds } from "@sitewright/server/store/sites/sites.ts";
import type { Context } from "../context.ts";
import { NotAllowed, NotFound, Refused } from "../failures.ts";
import { readTimestamp } from "../timestamps.ts";
import { type Caller, hasRole, managesOnlyOwnKeys } from "./access.ts";
import { recordDone } from "./activityEntries.ts";
import { type AddressList, intersection, isWithin, readAddressList } from "./allowedAddresses.ts";
import { requireRoomFor } from "./limits.ts";
import { requireLabels } from "./ownIds.ts";
import { grantedScopes } from "./scopes.ts";
import { makeToken, readToken } from "./token.ts";

type KeyStatus = "active" | "revoked" | "expired";

export interface KeyView {
  readonly id: string;
  readonly name: string;
  readonly status: KeyStatus;
  readonly expires_at: string | null;
  readonly created_by: string | null;
  readonly replaced_by: string | null;
  readonly last_used_at: string | null;
  readonly allowed_addresses: string[] | null;
  readonly scopes: string[] | null;
}

export function view(key: ShownKey, now: Date): KeyView {
  const isExpired = key.expires_at !== null && key.expires_at <= now;
  return {
    id: key.id,
    name: key.name,
    status: key.revoked_at ? "revoked" : isExpired ? "expired" : "active",
    expires_at: key.expires_at?.toISOString() ?? null,
    created_by: key.created_by,
    replaced_by: key.replaced_by,
    last_used_at: key.last_used_at?.toISOString() ?? null,
    allowed_addresses: key.allowed_addresses && [...key.allowed_addresses],
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
  readonly allowed_addresses?: readonly string[] | null;
}

/**
 * Creates a key for the caller's user with at most the permissions, the addresses and the lifetime of the calling key. Its
 * token is returned only once.
 */
export async function create(context: Context, request: KeyRequest): Promise<{ api_key: KeyView; token: string }> {
  const { caller } = context;
  const expiresAt = request.expires_at ? readTimestamp(request.expires_at) : null;
  if (expiresAt && !(expiresAt > new Date())) {
    throw new Refused("expiry_in_the_past", "expires_at is in the past. Send a later time, or leave it out.");
  }
  const scopes = grantedScopes(caller.scopes, request.scopes ?? null);
  if (managesOnlyOwnKeys(caller.scopes) && !managesOnlyOwnKeys(scopes)) throw new NotAllowed("delete");
  await refuseUnknownSites(context, scopes);
  await requireLabels(context, idsOf(scopes, "label:"));
  const addresses = readAddressList(request.allowed_addresses ?? null);
  const token = makeToken();
  const created = await changeKeys(context, async (transaction) => {
    const creator = await lockCreatingKey(transaction, caller.keyId);
    if (!creator) throw new NotFound();
    await requireRoomFor(context, transaction, { api_keys: 1 });
    const key: NewApiKey = {
      ...readToken(token),
      companyId: caller.companyId,
      userId: caller.userId,
      name: request.name,
      scopes,
      expiresAt: caller.kind === "session" ? expiresAt : earlier(expiresAt, creator.expires_at),
      allowedAddresses: withinList(addresses ?? creator.allowed_addresses, creator.allowed_addresses),
      // A key outlives the session in which it was created.
      createdBy: caller.kind === "session" ? null : caller.keyId,
    };
    await insertApiKey(transaction, key);
    await record(context, transaction, "createApiKey", request.name);
    return shown(key);
  });
  return { api_key: view(created, new Date()), token };
}

/** A new key as it is shown. */
export function shown(key: NewApiKey): ShownKey {
  return {
    id: key.id,
    name: key.name,
    user_id: key.userId,
    scopes: key.scopes,
    expires_at: key.expiresAt,
    revoked_at: null,
    created_by: key.createdBy ?? null,
    replaced_by: null,
    last_used_at: null,
    allowed_addresses: key.allowedAddresses ?? null,
  };
}

/** Returns the list. Throws `Refused` if it contains addresses that the other one does not. */
function withinList(list: AddressList, allowed: AddressList): AddressList {
  if (isWithin(list, allowed)) return list;
  const message =
    "allowed_addresses contains addresses that its creator or the calling key is not accepted from. Stay within their lists.";
  throw new Refused("addresses_too_wide", message, { allowed });
}

/** Changes the addresses from which the key is accepted, and reduces those of the keys created with it. */
export function setAddresses(context: Context, keyId: string, entries: AddressList): Promise<KeyView> {
  const { caller } = context;
  const list = readAddressList(entries);
  return changeKeys(context, async (transaction) => {
    const key = await lockOwnKey(context, transaction, keyId);
    const creator = key.created_by && (await lockCreatingKey(transaction, key.created_by));
    withinList(list, caller.allowedAddresses);
    if (creator) withinList(list, creator.allowed_addresses);
    await setAllowedAddresses(transaction, keyId, list, intersection);
    await record(context, transaction, "changeApiKey", key.name);
    return view({ ...key, allowed_addresses: list }, new Date());
  });
}

/** Runs in a transaction that no other change of the company's keys runs next to. It is in force before the answer. */
export function changeKeys<T>(context: Context, work: (transaction: DatabaseTransaction) => Promise<T>): Promise<T> {
  context.afterCommit(async () => context.identities.forgetKeys(context.caller.companyId));
  return context.inTransaction(async (transaction) => {
    await lockCompany(transaction, context.caller.companyId);
    await requireUnchanged(transaction, context.caller);
    return work(transaction);
  });
}

/** Throws `NotFound` or `NotAllowed` if the caller has lost permissions since the request began: its body may have come late. */
async function requireUnchanged(transaction: DatabaseTransaction, { keyId, role, userSites }: Caller): Promise<void> {
  const now = await findPermissions(transaction, keyId);
  if (now === null) throw new NotFound();
  if (now.role !== role || (now.site_ids !== null && userSites === null)) throw new NotAllowed(`role:${role}`);
}

/** Locks a key that the caller may manage. Throws `NotFound` or `NotAllowed`. */
export async function lockOwnKey(
  { caller }: Context,
  transaction: DatabaseTransaction,
  keyId: string,
): Promise<ShownKey> {
  const key = await lockApiKey(transaction, caller.companyId, keyId);
  if (!key) throw new NotFound();
  if (key.user_id !== caller.userId && !hasRole(caller, "admin")) throw new NotAllowed("role:admin");
  if (managesOnlyOwnKeys(caller.scopes) && !(await isCreatedWith(transaction, keyId, caller.keyId))) {
    throw new NotAllowed("delete");
  }
  return key;
}

/** Writes the entry of a change of a key into the activity log. */
export async function record(
  context: Context,
  transaction: DatabaseTransaction,
  type: "createApiKey" | "changeApiKey" | "rotateApiKey" | "revokeApiKey",
  keyName: string,
): Promise<void> {
  await recordDone(context, transaction, { type, category: "userManagement", parameters: { keyName } });
}

/** The earlier of two times; null is never. */
function earlier(one: Date | null, other: Date | null): Date | null {
  if (one === null || other === null) return one ?? other;
  return one < other ? one : other;
}

/**
 * Revokes the key, all keys created with it and, unless `keepsSuccessor`, the key that has replaced it. Revoking it again
 * keeps the original time.
 */
export function revoke(context: Context, keyId: string, keepsSuccessor: boolean): Promise<KeyView> {
  return changeKeys(context, async (transaction) => {
    const key = await lockOwnKey(context, transaction, keyId);
    const now = new Date();
    if (!key.revoked_at) await revokeApiKey(transaction, keyId, now, { keepsSuccessor });
    await record(context, transaction, "revokeApiKey", key.name);
    return view({ ...key, revoked_at: key.revoked_at ?? now }, now);
  });
}

/** The ids in the scopes that begin with `kind`. */
function idsOf(scopes: readonly string[] | null, kind: string): string[] {
  return (scopes ?? []).filter((scope) => scope.startsWith(kind)).map((scope) => scope.slice(kind.length));
}

async function refuseUnknownSites(context: Context, scopes: readonly string[] | null): Promise<void> {
  const wanted = idsOf(scopes, "site:");
  const found = await knownSiteIds(context.database, context.caller.companyId, wanted);
  const unknown = wanted.filter((id) => !found.has(id));
  if (unknown.length > 0) {
    throw new Refused("unknown_site_scope", `The company has no site with the id ${unknown[0]}.`, { unknown });
  }
}
