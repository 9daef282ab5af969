/**
 * Finds the caller of a request, and the company and site of the resource that it acts on.
 *
 * Every request needs both, and people poll: so they are kept in memory. A key is looked up again after less than a second,
 * which bounds how long a revoked key is accepted if a notification from the database is lost. Usually the notification comes
 * first, and the process that revokes a key forgets it before it answers. The company and the site of a resource never change, so
 * reads may rely on what was found a moment ago; what is gone meanwhile, they don't find. Changes always look it up.
 */
import { findKey, findTarget, type KeyRecord, type TargetRecord } from "@sitewright/server/store/company/apiKeys.ts";
import { LRUCache } from "lru-cache";
import type { Pool } from "pg";
import { type Caller, type Resource, type Target, targetFrom } from "./access.ts";
import { isSameHash, type TokenFacts } from "./token.ts";

export interface Identified {
  readonly caller: Caller;
  /** Null if it does not exist, or the request has none. */
  readonly target: Target | null;
}

export interface Identities {
  /**
   * Null if the token is malformed, unknown, expired or revoked. `presented` comes from `readToken`. `isRead`: the target may be known from a moment ago. At once if
   * everything is in memory.
   */
  identify(
    presented: TokenFacts,
    resource: Resource | null,
    isRead: boolean,
  ): Identified | null | Promise<Identified | null>;
  /** The caller, if the key is in memory and its token is valid. */
  known(presented: TokenFacts): Caller | null;
  /** Whether a request with a key of this id has been accepted within the last hour. */
  isFamiliar(presented: TokenFacts): boolean;
  /** Forgets the keys of a company, or all, also those that are being looked up. */
  forgetKeys(companyId?: string): void;
}

interface Lookups {
  readonly findKey: typeof findKey;
  readonly findTarget: typeof findTarget;
}

const lifetimeMilliseconds = 900;
const maxEntries = 10_000;
const familiarMilliseconds = 3_600_000;

/** `find`: the functions of the store. */
export function makeIdentities(pool: Pool, find: Lookups = { findKey, findTarget }): Identities {
  const bounds = { max: maxEntries, ttl: lifetimeMilliseconds };
  const keys = new LRUCache<string, KnownKey>(bounds);
  const targets = new LRUCache<string, Target>(bounds);
  const familiar = new LRUCache<string, true>({ max: maxEntries, ttl: familiarMilliseconds });
  let changes = 0;

  const nameOf = ({ kind, id }: Resource) => `${kind} ${id}`;

  function keepTarget(resource: Resource, found: TargetRecord | null, start: number): Target | null {
    const target = targetFrom(found);
    if (target !== null) targets.set(nameOf(resource), target, { start });
    return target;
  }

  /** In one round trip. The time in memory counts from before the lookup. */
  async function lookUp(presented: TokenFacts, resource: Resource | null): Promise<Identified | null> {
    const [changesBefore, start] = [changes, performance.now()];
    const found = await find.findKey(pool, presented.id, resource);
    const key = found && { record: found, caller: callerFrom(found) };
    if (key !== null && changes === changesBefore) keys.set(presented.id, key, { start });
    const caller = checkedCaller(key, presented);
    if (caller !== null) familiar.set(presented.id, true);
    return caller && { caller, target: resource && keepTarget(resource, found, start) };
  }

  async function lookUpTarget(caller: Caller, resource: Resource): Promise<Identified> {
    const start = performance.now();
    return { caller, target: keepTarget(resource, await find.findTarget(pool, resource.kind, resource.id), start) };
  }

  return {
    identify(presented, resource, isRead) {
      const key = keys.get(presented.id);
      if (key === undefined) return lookUp(presented, resource);
      const caller = checkedCaller(key, presented);
      if (caller === null || resource === null) return caller && { caller, target: null };
      const target = isRead ? targets.get(nameOf(resource)) : undefined;
      return target === undefined ? lookUpTarget(caller, resource) : { caller, target };
    },
    known(presented) {
      const key = keys.get(presented.id);
      return key === undefined ? null : checkedCaller(key, presented);
    },
    isFamiliar: ({ id }) => familiar.has(id),
    forgetKeys(companyId) {
      changes += 1;
      if (companyId === undefined) return keys.clear();
      for (const [id, { caller }] of keys.entries()) if (caller.companyId === companyId) keys.delete(id);
    },
  };
}

/** A key in memory. The caller is the same object as long as the key is not looked up again. */
interface KnownKey {
  readonly record: KeyRecord;
  readonly caller: Caller;
}

/** Null if the token is not valid. Hashes are compared in constant time, also if there is no such key. */
function checkedCaller(key: KnownKey | null, { kind, secretHash }: TokenFacts): Caller | null {
  const matches = isSameHash(key?.record.secret_hash ?? secretHash, secretHash);
  if (key === null || !matches || !key.record.is_usable) return null;
  if (key.record.key_kind !== kind) return null;
  const { expiresAt } = key.caller;
  return expiresAt !== null && expiresAt.getTime() <= Date.now() ? null : key.caller;
}

function callerFrom(key: KeyRecord): Caller {
  return {
    keyId: key.key_id,
    kind: key.key_kind,
    keyName: key.key_name,
    expiresAt: key.expires_at,
    allowedAddresses: key.allowed_addresses,
    scopes: key.scopes,
    labelledSites: key.labelled_sites,
    companyId: key.company_id,
    userId: key.user_id,
    role: key.role,
    fullName: key.full_name,
    firstName: key.first_name,
    userSites: key.site_ids,
    isOperator: key.is_operator,
    mustChangePassword: key.must_change_password,
    mustAddSecondFactor: key.must_add_second_factor,
  };
}
