/** Sessions of people, as the API shows them. */

import { found } from "../world/failures.ts";
import { isoOf, seenSites, signedInPerson } from "../world/find.ts";
import { newId } from "../world/ids.ts";
import type { DemoSession, Person, ResultOf, Role, World } from "../world/world.ts";

const day = 86_400_000;

/** Opens a session for this tab. */
export function beginSession(world: World, person: Person): void {
  const facts = { place: "203.0.113.7", browser: "This browser", system: "" };
  const session = { id: newId(), personId: person.id, createdAt: world.clock.now(), ...facts };
  person.lastSignedInAt = session.createdAt;
  world.sessions.unshift(session);
  world.sessionId = session.id;
}

export const ownSession = ({ sessions, sessionId }: World): DemoSession =>
  found(sessions.find(({ id }) => id === sessionId));

export function sessionView({ clock, sessionId }: World, { id, createdAt, place, browser, system }: DemoSession) {
  return {
    id,
    is_current: id === sessionId,
    created_at: isoOf(createdAt),
    last_used_at: isoOf(id === sessionId ? clock.now() : createdAt),
    expires_at: isoOf(createdAt + 30 * day),
    ip_address: place,
    browser_name: browser,
    os_name: system || null,
  } satisfies ResultOf<"endSession">;
}

type Permission = ResultOf<"getSession">["permissions"][number];

const viewer: readonly Permission[] = ["see_limits", "see_rollouts", "see_users", "see_keys"];
const developer: readonly Permission[] = [
  ...viewer,
  ...(["create_sites", "change_sites", "manage_rollouts", "manage_keys"] as const),
];
const admin: readonly Permission[] = [
  ...developer,
  ...(["delete_sites", "change_limits", "manage_users", "manage_labels"] as const),
];

const permissions: Readonly<Record<Role, readonly Permission[]>> = {
  owner: [...admin, "manage_sign_in", "manage_owners"],
  admin,
  developer,
  billing: viewer,
  viewer,
};

/** Permissions that need only one site, not all. */
const ofOneSite: readonly Permission[] = ["change_sites", "delete_sites", "change_limits"];

/** What somebody with this role and these sites may do, as the API decides it. Null: all sites. */
export function permissionsOf({ role, siteIds }: Pick<Person["access"], "role" | "siteIds">): Permission[] {
  const hasOneSite = siteIds !== null && siteIds.length > 0;
  return permissions[role].filter(
    (name) => siteIds === null || name === "manage_owners" || (hasOneSite && ofOneSite.includes(name)),
  );
}

export const hasFactor = ({ factor: { appSince, passkeys } }: Person): boolean =>
  appSince !== null || passkeys.length > 0;

/** Who has signed in, and what they may do. */
export function signedInView(world: World): ResultOf<"getSession"> {
  const person = signedInPerson(world);
  const { id, email, fullName, access } = person;
  const { company } = world;
  const siteIds = access.siteIds && seenSites(world).map((site) => site.id);
  return {
    session: sessionView(world, ownSession(world)),
    user: {
      ...{ id, email, full_name: fullName, role: access.role, image: "" },
      first_name: fullName.split(" ")[0] ?? fullName,
      site_ids: access.siteIds && [...access.siteIds],
    },
    company: { id: company.id, name: company.name },
    permissions: permissionsOf({ role: access.role, siteIds }),
    is_operator: access.role === "owner",
    must_change_password: false,
    has_second_factor: hasFactor(person),
    must_add_second_factor: company.requiresSecondFactor && !hasFactor(person),
  };
}
