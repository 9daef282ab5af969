/** Users of a company. */
import { removeUser } from "@sitewright/contract/company/users.ts";
import type { Role } from "@sitewright/contract/endpoint.ts";
import { deleteInvitationsOf } from "@sitewright/server/store/company/invitations.ts";
import { deleteSecondFactor } from "@sitewright/server/store/company/secondFactors.ts";
import { endSessions } from "@sitewright/server/store/company/sessions.ts";
import {
  deleteUser,
  hasOtherOwner,
  listUsers,
  lockUser,
  type ShownUser,
  type UserAccess,
  updateUser,
} from "@sitewright/server/store/company/users.ts";
import type { DatabaseTransaction } from "@sitewright/server/store/database.ts";
import type { Context } from "../context.ts";
import { NotAllowed, NotFound, Refused } from "../failures.ts";
import { type Caller, hasRole } from "./access.ts";
import { recordDone } from "./activityEntries.ts";
import { changeKeys } from "./apiKeys.ts";
import { requireLabels, requireSites } from "./ownIds.ts";
import { mayCall } from "./permissions.ts";

function userView({ id, email, full_name, role, site_ids, label_ids }: ShownUser) {
  const sites = { site_ids: site_ids && [...site_ids], label_ids: label_ids && [...label_ids] };
  return { id, email, image: initialsImage(full_name), full_name, role, ...sites };
}

/** Lists the users of the caller's company. */
export async function list({ database, caller }: Context) {
  const users = await listUsers(database, caller.companyId);
  const owners = users.filter(({ role }) => role === "owner").length;
  return {
    users: users.map((user) => ({
      user: userView(user),
      sites: user.sites && [...user.sites],
      labels: [...user.labels],
      last_signed_in_at: user.last_signed_in_at?.toISOString() ?? null,
      has_second_factor: user.has_second_factor,
      locked_because: lockedBecause(caller, user, owners),
    })),
  };
}

/** Why the caller can't change the role of a user or remove them, or null. */
function lockedBecause(caller: Caller, { role }: ShownUser, owners: number): string | null {
  if (!mayCall(removeUser, caller)) return "Only owners and admins can manage users.";
  if (role !== "owner") return null;
  if (!hasRole(caller, "owner")) return "Only owners can manage owners.";
  return owners > 1 ? null : lastOwner;
}

const lastOwner = "This is the company's only owner. Make somebody else an owner first.";

interface Permissions {
  readonly role: Role;
  readonly site_ids?: readonly string[] | null;
  readonly label_ids?: readonly string[] | null;
}

/** Changes the role and the sites of a user. */
export async function change(context: Context, userId: string, permissions: Permissions) {
  const access = await checkedAccess(context, permissions);
  const { role, siteIds, labelIds } = access;
  return changeKeys(context, async (transaction) => {
    const user = await lockManagedUser(context, transaction, userId);
    requireRank(context, role);
    if (role !== "owner") await requireOtherOwner(transaction, user, context.caller.companyId);
    await updateUser(transaction, user.id, access);
    // Otherwise a former owner could still make another user an owner.
    if (role !== user.role) await deleteInvitationsOf(transaction, user.id);
    await record(context, transaction, "changeUser", user);
    return userView({ ...user, role, site_ids: siteIds, label_ids: labelIds });
  });
}

/** Removes a user, their sessions, keys and invitations. Keys that were created with theirs are their own, too. */
export function remove(context: Context, userId: string) {
  return changeKeys(context, async (transaction) => {
    const user = await lockManagedUser(context, transaction, userId);
    await requireOtherOwner(transaction, user, context.caller.companyId);
    await deleteInvitationsOf(transaction, user.id);
    await record(context, transaction, "removeUser", user);
    await deleteUser(transaction, user.id);
    return userView(user);
  });
}

/** Removes the second factor of another user, and ends their sessions. Throws `Refused` if it is the caller's own. */
export function resetSecondFactor(context: Context, userId: string) {
  if (userId.toLowerCase() === context.caller.userId) {
    const message = "Remove your own second factor with your password: DELETE /v2/session/second-factor.";
    throw new Refused("own_second_factor", message);
  }
  return changeKeys(context, async (transaction) => {
    const user = await lockManagedUser(context, transaction, userId);
    if (await deleteSecondFactor(transaction, user.id)) {
      await endSessions(transaction, user.id, "all");
      await record(context, transaction, "resetSecondFactor", user);
    }
    return userView(user);
  });
}

/** Locks a user whom the caller may manage. Throws `NotFound` or `NotAllowed`. */
async function lockManagedUser(context: Context, transaction: DatabaseTransaction, userId: string): Promise<ShownUser> {
  const user = await lockUser(transaction, context.caller.companyId, userId.toLowerCase());
  if (user === null) throw new NotFound();
  requireRank(context, user.role);
  return user;
}

/** Only owners may manage owners. Throws `NotAllowed`. */
export function requireRank({ caller }: Context, role: Role): void {
  if (role === "owner" && !hasRole(caller, "owner")) throw new NotAllowed("role:owner");
}

/** Throws `Refused` if the company would be left without an owner. */
async function requireOtherOwner(transaction: DatabaseTransaction, user: ShownUser, companyId: string): Promise<void> {
  if (user.role !== "owner" || (await hasOtherOwner(transaction, companyId, user.id))) return;
  throw new Refused("last_owner", lastOwner);
}

/**
 * Returns the role, and the only sites and labels that a user gets. Throws `Refused` if the role has all sites, or a site or
 * label is unknown.
 */
export async function checkedAccess(
  context: Context,
  { role, site_ids = null, label_ids = null }: Permissions,
): Promise<UserAccess> {
  if (site_ids === null && label_ids === null) return { role, siteIds: null, labelIds: null };
  if (role === "owner" || role === "admin") {
    const message = `A user with the role ${role} has all sites. Leave out site_ids and label_ids, or choose another role.`;
    throw new Refused("needs_all_sites", message);
  }
  const siteIds = unique(site_ids ?? []);
  await requireSites(context, siteIds);
  const labelIds = label_ids && unique(label_ids);
  await requireLabels(context, labelIds ?? []);
  return { role, siteIds, labelIds };
}

const unique = (ids: readonly string[]) => [...new Set(ids.map((id) => id.toLowerCase()))];

async function record(
  context: Context,
  transaction: DatabaseTransaction,
  type: "changeUser" | "removeUser" | "resetSecondFactor",
  { email }: ShownUser,
): Promise<void> {
  await recordDone(context, transaction, { type, category: "userManagement", parameters: { email } });
}

/** Returns an SVG image with the initials of the first and the last name, as a `data:` address, so that showing it needs no other server. */
export function initialsImage(fullName: string): string {
  const names = fullName.trim().split(/\s+/u);
  const shown = names.length > 1 ? [names[0], names.at(-1)] : names;
  const initials = shown.map((name = "") => firstLetter(name)).join("");
  const text = `<text x="50" y="50" dy=".35em" text-anchor="middle" font-family="sans-serif" font-size="42" fill="#fff">${initials}</text>`;
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 100 100"><rect width="100" height="100" fill="#40566b"/>${text}</svg>`;
  return `data:image/svg+xml,${encodeURIComponent(svg)}`;
}

/** The first letter or digit in capitals, or nothing: other characters may mean something in SVG. */
function firstLetter(name: string): string {
  return /[\p{L}\p{N}]\p{M}*/u.exec(name)?.[0].toLocaleUpperCase("en") ?? "";
}
