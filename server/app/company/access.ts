/**
 * Who is asking, and may they? The answer follows from the endpoint's row alone: whose the thing is (else 404),
 * then what the key's scopes and its user's role allow (else 403).
 */
import type { Endpoint, Role } from "@sitewright/contract/endpoint.ts";
import { findKey, findTarget, type TargetKind, type TargetRecord } from "@sitewright/server/store/company/apiKeys.ts";
import type { Pool } from "pg";
import { NotAllowed, NotFound } from "../failures.ts";
import { isSameHash, readToken } from "./token.ts";

/** The key that makes a request and the person it speaks for. */
export interface Caller {
  readonly keyId: string;
  readonly keyName: string;
  readonly expiresAt: Date | null;
  /** Null = all that the role allows. */
  readonly scopes: readonly string[] | null;
  readonly companyId: string;
  readonly userId: string;
  readonly role: Role;
  readonly fullName: string;
  readonly firstName: string;
}

/** What a request acts on. `siteId` is null for something of the whole company. */
export interface Target {
  readonly companyId: string;
  readonly siteId: string | null;
  /** Whether it is a live environment; null if it is no environment. */
  readonly isLive: boolean | null;
}

export interface Identified {
  readonly caller: Caller;
  /** Null if there is no such thing, or none was asked about. */
  readonly target: Target | null;
}

/**
 * Null for a token that is missing, malformed, unknown, expired or revoked: the same work is done for each,
 * and the hashes are compared in constant time.
 */
export async function identify(
  pool: Pool,
  token: string,
  about: { readonly kind: TargetKind; readonly id: string } | null,
): Promise<Identified | null> {
  const presented = readToken(token);
  const key = await findKey(pool, presented.id, about);
  const matches = isSameHash(key?.secret_hash ?? presented.secretHash, presented.secretHash);
  if (!key || !matches || !key.is_usable) return null;
  const caller = {
    keyId: key.key_id,
    keyName: key.key_name,
    expiresAt: key.expires_at,
    scopes: key.scopes,
    companyId: key.company_id,
    userId: key.user_id,
    role: key.role,
    fullName: key.full_name,
    firstName: key.first_name,
  };
  return { caller, target: targetFrom(key) };
}

function targetFrom(found: TargetRecord | null): Target | null {
  if (!found?.target_company_id) return null;
  return { companyId: found.target_company_id, siteId: found.target_site_id, isLive: found.target_is_live };
}

/** The thing of that id, for a request that names it in its body. Null if there is none. */
export async function lookUpTarget(pool: Pool, kind: TargetKind, id: string): Promise<Target | null> {
  return targetFrom(await findTarget(pool, kind, id));
}

const verbs = ["read", "write", "delete", "push"];
const rank: Record<Role, number> = { billing: 0, developer: 1, admin: 2, owner: 3 };

/** The sites that a key is limited to; null = every site of its company. */
export function sitesInScope(caller: Caller): string[] | null {
  const sites = (caller.scopes ?? []).filter((scope) => scope.startsWith("site:"));
  return sites.length > 0 ? sites.map((scope) => scope.slice("site:".length).toLowerCase()) : null;
}

export function hasRole(caller: Caller, least: Role): boolean {
  return rank[caller.role] >= rank[least];
}

/** Returns where the call may go on; throws `NotFound` or `NotAllowed` if it may not. */
export function authorise(row: Endpoint, caller: Caller, target: Target | null): void {
  if (target?.companyId !== caller.companyId) throw new NotFound();
  const needs =
    missingRole(row, caller) ??
    missingVerb(row, caller) ??
    missingLive(row, caller, target) ??
    missingSite(row, caller, target);
  if (needs) throw new NotAllowed(needs);
}

function missingRole(row: Endpoint, caller: Caller): string | null {
  const least = row.role ?? (row.verb === "read" ? "billing" : "developer");
  return hasRole(caller, least) ? null : `role:${least}`;
}

function missingVerb(row: Endpoint, caller: Caller): string | null {
  const narrowed = caller.scopes?.some((scope) => verbs.includes(scope)) ?? false;
  return narrowed && !caller.scopes?.includes(row.verb) ? row.verb : null;
}

/** Whether the caller may change things at all. */
export function mayWrite(caller: Caller): boolean {
  const narrowed = caller.scopes?.some((scope) => verbs.includes(scope)) ?? false;
  return hasRole(caller, "developer") && (!narrowed || (caller.scopes?.includes("write") ?? false));
}

function missingLive(row: Endpoint, caller: Caller, target: Target): string | null {
  return row.changesLive && target.isLive !== false && mayNotChangeLive(caller) ? "live" : null;
}

/** Whether the key is kept from live environments. */
export function mayNotChangeLive(caller: Caller): boolean {
  return caller.scopes?.includes("non-live") ?? false;
}

function missingSite(row: Endpoint, caller: Caller, target: Target): string | null {
  const sites = sitesInScope(caller);
  if (!sites || row.resource.kind === "key") return null;
  if (row.resource.kind === "company") return row.resource.underSiteScope === "closed" ? "site:*" : null;
  return target.siteId && sites.includes(target.siteId) ? null : `site:${target.siteId ?? "*"}`;
}
