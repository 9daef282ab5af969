/**
 * Authorisation; `identities.ts` finds the caller and the target. The declaration of the endpoint decides: the target must belong to the caller's company
 * (else 404), and the scopes of the key and the role of its user must be sufficient (else 403).
 */
import { type Endpoint, isOwnResource, type Role } from "@sitewright/contract/endpoint.ts";
import { findTarget, type TargetKind, type TargetRecord } from "@sitewright/server/store/company/apiKeys.ts";
import type { Pool } from "pg";
import { NotAllowed, NotFound, PasswordChangeRequired, SecondFactorRequired } from "../failures.ts";
import type { AddressList } from "./allowedAddresses.ts";

/** The key or session of a request, and the user it belongs to. */
export interface Caller {
  /** Of the key or session. */
  readonly keyId: string;
  readonly kind: "key" | "session";
  readonly keyName: string;
  readonly expiresAt: Date | null;
  readonly allowedAddresses: AddressList;
  /** Null: everything that the role allows. */
  readonly scopes: readonly string[] | null;
  /** Sites that have one of the labels in `scopes`. */
  readonly labelledSites: readonly string[];
  readonly companyId: string;
  readonly userId: string;
  readonly role: Role;
  readonly fullName: string;
  readonly firstName: string;
  /** The only sites that the user has, whatever their key's scopes say. Null: all. */
  readonly userSites: readonly string[] | null;
  /** Whether the user is an operator of the installation. */
  readonly isOperator: boolean;
  /** Whether the user has to choose a password first. It does not restrict their keys. */
  readonly mustChangePassword: boolean;
  /** Whether the user has to add a second factor first. It does not restrict their keys. */
  readonly mustAddSecondFactor: boolean;
}

/** The resource that a request acts on. */
export interface Target {
  readonly companyId: string;
  /** Null if it belongs to the whole company. */
  readonly siteId: string | null;
  /** Whether it is a live environment, or null if it is not an environment. */
  readonly isLive: boolean | null;
}

/** A resource by its kind and id. */
export interface Resource {
  readonly kind: TargetKind;
  readonly id: string;
}

export function targetFrom(found: TargetRecord | null): Target | null {
  if (!found?.target_company_id) return null;
  return { companyId: found.target_company_id, siteId: found.target_site_id, isLive: found.target_is_live };
}

/** Finds the target of a request that names it in the body, or null. */
export async function lookUpTarget(pool: Pool, kind: TargetKind, id: string): Promise<Target | null> {
  return targetFrom(await findTarget(pool, kind, id));
}

const verbs = ["read", "write", "delete", "push", "keys", "users"];
const rank: Record<Role, number> = { viewer: 0, billing: 0, developer: 1, admin: 2, owner: 3 };

/** What decides about a call. */
export type Authority = Pick<Caller, "kind" | "role" | "scopes" | "labelledSites" | "userSites">;

/** The sites that the key and its user are limited to, or null for all sites of the company. */
export function sitesInScope(caller: Pick<Caller, "scopes" | "labelledSites" | "userSites">): string[] | null {
  const { userSites } = caller;
  const ofKey = sitesOfKey(caller);
  if (userSites === null) return ofKey;
  return ofKey === null ? [...userSites] : ofKey.filter((id) => userSites.includes(id));
}

/** The sites that the key's own scopes limit it to, or null. */
function sitesOfKey({ scopes, labelledSites }: Pick<Caller, "scopes" | "labelledSites">): string[] | null {
  const ofKind = (kind: string) =>
    (scopes ?? []).filter((scope) => scope.startsWith(kind)).map((scope) => scope.slice(kind.length).toLowerCase());
  const sites = ofKind("site:");
  if (sites.length === 0 && ofKind("label:").length === 0) return null;
  return [...new Set([...sites, ...labelledSites])];
}

export function hasRole(caller: Pick<Caller, "role">, least: Role): boolean {
  return rank[caller.role] >= rank[least];
}

/** Throws `NotFound`, `NotAllowed`, `PasswordChangeRequired` or `SecondFactorRequired` if the caller can't make this call. */
export function authorise(row: Endpoint, caller: Caller, target: Target | null): void {
  if (target?.companyId !== caller.companyId) throw new NotFound();
  const isSession = caller.kind === "session";
  if (isSession && row.resource.kind !== "session") {
    if (caller.mustChangePassword) throw new PasswordChangeRequired();
    if (caller.mustAddSecondFactor) throw new SecondFactorRequired();
  }
  if (isHidden(caller, target)) throw new NotFound();
  const needs = missing(row, caller, target);
  if (needs !== null) throw new NotAllowed(needs);
}

/** Whether the caller can make this call. */
export function isAllowed(row: Endpoint, caller: Caller, target: Target): boolean {
  try {
    authorise(row, caller, target);
    return true;
  } catch {
    return false;
  }
}

/** What the caller lacks for this call, as in `NotAllowed`, or null. */
export function missing(row: Endpoint, caller: Authority, target: Target): string | null {
  return (
    (row.resource.kind === "session" && caller.kind !== "session" ? "session" : null) ??
    missingRole(row, caller) ??
    missingVerb(row, caller) ??
    missingLive(row, caller, target) ??
    missingSite(row, caller, target) ??
    missingUsers(row, caller)
  );
}

/** Whether the target is a site that the user does not have: for them, it does not exist. */
function isHidden({ userSites }: Caller, { siteId }: Target): boolean {
  return userSites !== null && siteId !== null && !userSites.includes(siteId);
}

function missingRole(row: Endpoint, caller: Authority): string | null {
  const least = row.role ?? (row.verb === "read" ? "viewer" : "developer");
  return hasRole(caller, least) ? null : `role:${least}`;
}

function missingVerb(row: Endpoint, caller: Authority): string | null {
  const narrowed = caller.scopes?.some((scope) => verbs.includes(scope)) ?? false;
  return narrowed && !caller.scopes?.includes(row.verb) ? row.verb : null;
}

/**
 * Whether a key with these scopes can change and revoke only itself and the keys below it. Until November 2026, revoking any
 * key needed `delete`, and keys with `write` got `keys` by a migration.
 */
export function managesOnlyOwnKeys(scopes: readonly string[] | null): boolean {
  if (scopes === null || scopes.includes("delete")) return false;
  return scopes.some((scope) => scope !== "keys" && verbs.includes(scope));
}

/** Whether the caller has write access. */
export function canWrite(caller: Caller): boolean {
  const narrowed = caller.scopes?.some((scope) => verbs.includes(scope)) ?? false;
  return hasRole(caller, "developer") && (!narrowed || (caller.scopes?.includes("write") ?? false));
}

/** A key with scopes of any kind could otherwise invite somebody with more permissions. */
function missingUsers(row: Endpoint, caller: Authority): string | null {
  return row.verb === "users" && caller.scopes?.includes("users") === false ? "users" : null;
}

function missingLive(row: Endpoint, caller: Authority, target: Target): string | null {
  return row.changesLive && target.isLive !== false && isNonLive(caller) ? "live" : null;
}

/** Whether the key can't change live environments. */
export function isNonLive(caller: Pick<Caller, "scopes">): boolean {
  return caller.scopes?.includes("non-live") ?? false;
}

function missingSite(row: Endpoint, caller: Authority, target: Target): string | null {
  const sites = sitesInScope(caller);
  if (!sites || isOwnResource(row.resource)) return null;
  if (row.resource.kind === "company") return row.resource.underSiteScope === "closed" ? "site:*" : null;
  return target.siteId && sites.includes(target.siteId) ? null : `site:${target.siteId ?? "*"}`;
}
