/** People of the company, what they may do, and invitations. */
import type { Calls, PublicHandlers } from "@sitewright/contract/endpoints.ts";
import { record } from "../world/activity.ts";
import { found, Refusal } from "../world/failures.ts";
import { isoOf, isoOrNull, personOf, signedInPerson } from "../world/find.ts";
import { newId } from "../world/ids.ts";
import type { Access, DemoInvitation, Person, Role, World } from "../world/world.ts";
import { requireGoodPassword } from "./passwords.ts";
import { beginSession, signedInView } from "./sessionViews.ts";

const day = 86_400_000;
const category = "userManagement" as const;

const userView = ({ id, email, fullName, access: { role, siteIds, labelIds } }: Person) => ({
  ...{ id, email, image: "", full_name: fullName, role },
  site_ids: siteIds && [...siteIds],
  label_ids: labelIds && [...labelIds],
});

const invitationView = ({ id, email, access, invitedBy, createdAt }: DemoInvitation) => ({
  ...{ id, email, role: access.role },
  site_ids: access.siteIds && [...access.siteIds],
  label_ids: access.labelIds && [...access.labelIds],
  invited_by: invitedBy,
  created_at: isoOf(createdAt),
  expires_at: isoOf(createdAt + 7 * day),
});

const ownersOf = ({ people }: World): Person[] => people.filter(({ access }) => access.role === "owner");

const lastOwner = "This is the company's only owner. Make somebody else an owner first.";

function lockOf(world: World, person: Person): string | null {
  return person.access.role === "owner" && ownersOf(world).length === 1 ? lastOwner : null;
}

function requireOtherOwner(world: World, person: Person, role: Role | null): void {
  if (role !== "owner" && lockOf(world, person) !== null) throw new Refusal("last_owner", lastOwner);
}

interface GivenAccess {
  readonly role: Role;
  readonly site_ids?: readonly string[] | null;
  readonly label_ids?: readonly string[] | null;
}

function accessOf(world: World, { role, site_ids: siteIds = null, label_ids: labelIds = null }: GivenAccess): Access {
  const isLimited = siteIds !== null || labelIds !== null;
  if (isLimited && ["owner", "admin"].includes(role)) {
    throw new Refusal("needs_all_sites", "Owners and admins have all sites. Choose another role, or all sites.");
  }
  const unknown = (siteIds ?? []).filter((id) => !world.sites.some((site) => site.id === id));
  if (unknown.length > 0) throw new Refusal("unknown_site", "There is no site with one of these ids.", { unknown });
  return { role, siteIds: isLimited ? (siteIds ?? []) : null, labelIds: isLimited ? (labelIds ?? []) : null };
}

const linkOf = (token: string): string => {
  const here = globalThis.location?.href.split("#", 1)[0] ?? "https://demo.example/";
  return `${here}#/invitation#${token}`;
};

function invitationFor({ invitations }: World, token: string): DemoInvitation {
  const invitation = invitations.find((one) => one.token === token);
  if (invitation !== undefined) return invitation;
  throw new Refusal(
    "invitation_unusable",
    "This invitation is unknown, expired, withdrawn or accepted. Ask for a new one.",
  );
}

export const peopleCalls = {
  listUsers: (world) => ({
    users: world.people.map((person) => ({
      user: userView(person),
      sites:
        person.access.siteIds &&
        world.sites
          .filter(({ id }) => person.access.siteIds?.includes(id))
          .map(({ id, displayName }) => ({ id, display_name: displayName })),
      labels: world.labels.filter(({ id }) => person.access.labelIds?.includes(id)),
      last_signed_in_at: isoOrNull(person.lastSignedInAt),
      has_second_factor: person.factor.appSince !== null || person.factor.passkeys.length > 0,
      locked_because: lockOf(world, person),
    })),
  }),
  changeUser: (world, { params, body }) => {
    const person = personOf(world, params.user_id);
    requireOtherOwner(world, person, body.role);
    person.access = accessOf(world, body);
    record(world, { type: "changeUser", category, text: `Change what ${person.fullName} may do` });
    return userView(person);
  },
  removeUser: (world, { params }) => {
    const person = personOf(world, params.user_id);
    requireOtherOwner(world, person, null);
    record(world, { type: "removeUser", category, text: `Remove ${person.fullName}` });
    world.people.splice(world.people.indexOf(person), 1);
    return userView(person);
  },
  resetSecondFactor: (world, { params }) => {
    const person = personOf(world, params.user_id);
    if (person === signedInPerson(world)) {
      throw new Refusal("own_second_factor", "Remove your own second factor on the page of your account.");
    }
    person.factor = { appSince: null, passkeys: [], recoveryCodesLeft: 0 };
    record(world, { type: "resetSecondFactor", category, text: `Reset the second factor of ${person.fullName}` });
    return userView(person);
  },
  getSignInRules: ({ company }) => ({ requires_second_factor: company.requiresSecondFactor }),
  changeSignInRules: (world, { body }) => {
    world.company.requiresSecondFactor = body.requires_second_factor;
    record(world, { type: "changeSignInRules", category, text: "Change the rules for signing in" });
    return { requires_second_factor: body.requires_second_factor };
  },
  listInvitations: ({ invitations }) => invitations.map(invitationView),
  inviteUser: (world, { body }) => {
    const { email } = body;
    if (world.people.some((person) => person.email === email.toLowerCase())) {
      throw new Refusal("user_exists", `${email} belongs to somebody of the company already.`);
    }
    const invitation: DemoInvitation = {
      ...{ id: newId(), email: email.toLowerCase(), access: accessOf(world, body) },
      invitedBy: signedInPerson(world).id,
      createdAt: world.clock.now(),
      token: `si_${newId().replaceAll("-", "")}`,
    };
    world.invitations.push(invitation);
    record(world, { type: "inviteUser", category, text: `Invite ${email}` });
    return { invitation: invitationView(invitation), url: linkOf(invitation.token), is_mailed: false };
  },
  withdrawInvitation: (world, { params }) => {
    const invitation = found(world.invitations.find(({ id }) => id === params.invitation_id));
    world.invitations.splice(world.invitations.indexOf(invitation), 1);
    record(world, { type: "withdrawInvitation", category, text: `Withdraw the invitation of ${invitation.email}` });
    return invitationView(invitation);
  },
} satisfies Partial<Calls<World>>;

export const invitationHandlers = {
  checkInvitation: async (world, { body }) => {
    const { email, role, expires_at } = invitationView(invitationFor(world, body.token));
    return { status: 200, body: { invitation: { email, role, company_name: world.company.name, expires_at } } };
  },
  acceptInvitation: async (world, { body }) => {
    const invitation = invitationFor(world, body.token);
    requireGoodPassword(body.password);
    const { email, access } = invitation;
    const person: Person = {
      ...{ id: newId(), email, fullName: body.full_name, access, lastSignedInAt: world.clock.now() },
      factor: { appSince: null, passkeys: [], recoveryCodesLeft: 0 },
    };
    world.people.push(person);
    world.invitations.splice(world.invitations.indexOf(invitation), 1);
    beginSession(world, person);
    return { status: 201, body: signedInView(world) };
  },
} satisfies Partial<PublicHandlers<World>>;
