/**
 * Invitations. The secret is in the part of the link after the `#`, which browsers send to no server: the page sends it in a body,
 * so that it appears in no log.
 */
import { randomUUID } from "node:crypto";
import type { Role } from "@sitewright/contract/endpoint.ts";
import { queueAccountMail } from "@sitewright/server/store/company/accountMails.ts";
import {
  deleteInvitation,
  findInvitation,
  findInvitedRole,
  type InvitationTo,
  insertInvitation,
  listInvitations,
  type OpenInvitation,
  type ShownInvitation,
} from "@sitewright/server/store/company/invitations.ts";
import { findSignInUser, type SignInUser } from "@sitewright/server/store/company/sessions.ts";
import { insertUser, isEmailTaken } from "@sitewright/server/store/company/users.ts";
import type { DatabaseTransaction } from "@sitewright/server/store/database.ts";
import type { Context } from "../context.ts";
import { NotFound, Refused } from "../failures.ts";
import { recordDone } from "./activityEntries.ts";
import { changeKeys } from "./apiKeys.ts";
import { linkOrigin } from "./linkOrigin.ts";
import { requireStrongPassword } from "./newPasswords.ts";
import { recordBy, type SignedIn, startSession, type VisitorContext } from "./newSessions.ts";
import { hashPassword } from "./passwords.ts";
import { countMailedInvitation } from "./signInLock.ts";
import { inPasswordTurn } from "./signIns.ts";
import { isSameHash, makeToken, readToken } from "./token.ts";
import { checkedAccess, requireRank } from "./users.ts";

const maxPerCompany = 200;
const validMilliseconds = 7 * 24 * 60 * 60 * 1000;

function view({ id, email, role, site_ids, label_ids, invited_by, created_at, expires_at }: ShownInvitation) {
  return {
    id,
    email,
    role,
    site_ids: site_ids && [...site_ids],
    label_ids: label_ids && [...label_ids],
    invited_by,
    created_at: created_at.toISOString(),
    expires_at: expires_at.toISOString(),
  };
}

export async function list({ database, caller }: Context) {
  return (await listInvitations(database, caller.companyId)).map(view);
}

interface InvitationRequest {
  readonly email: string;
  readonly role: Role;
  readonly site_ids?: readonly string[] | null;
  readonly label_ids?: readonly string[] | null;
}

/** Creates an invitation in the place of an earlier one to the same e-mail address. Its link is returned only once, and mailed if there is a mail server and the link has a safe address (`linkOrigin`). Throws `Refused` or `TooManyMails`. */
export async function invite(context: Context, { email, ...permissions }: InvitationRequest) {
  const { role } = permissions;
  const { caller, origin } = context;
  requireRank(context, role);
  const access = await checkedAccess(context, permissions);
  const mailed = context.hasMailServer ? linkOrigin(context.settings, origin) : null;
  const token = makeToken("invitation");
  const invitation = await changeKeys(context, async (transaction) => {
    await refuseTaken(transaction, email);
    const replaced = await findInvitedRole(transaction, caller.companyId, email);
    if (replaced !== null) requireRank(context, replaced);
    else if ((await listInvitations(transaction, caller.companyId)).length >= maxPerCompany) {
      throw new Refused("too_many_invitations", `The company has ${maxPerCompany} invitations. Withdraw some first.`);
    }
    const inserted = await insertInvitation(transaction, {
      ...readToken(token, "invitation"),
      companyId: caller.companyId,
      email,
      ...access,
      invitedBy: caller.userId,
      expiresAt: new Date(Date.now() + validMilliseconds),
    });
    if (mailed !== null) {
      await countMailedInvitation(transaction, { companyId: caller.companyId, email });
      await queueAccountMail(transaction, { kind: "invitation", email, origin: mailed, invitationId: inserted.id });
    }
    await recordDone(context, transaction, { type: "inviteUser", category: "userManagement", parameters: { email } });
    return inserted;
  });
  return {
    invitation: view(invitation),
    url: `${origin}/invitation#${token}`,
    is_mailed: mailed !== null,
  };
}

export function withdraw(context: Context, id: string) {
  return changeKeys(context, async (transaction) => {
    const invitation = await deleteInvitation(transaction, context.caller.companyId, id.toLowerCase());
    if (invitation === null) throw new NotFound();
    requireRank(context, invitation.role);
    const parameters = { email: invitation.email };
    await recordDone(context, transaction, { type: "withdrawInvitation", category: "userManagement", parameters });
    return view(invitation);
  });
}

/** The invitation of a token, for the person who has it. */
export async function check({ database }: VisitorContext, token: string) {
  const { email, role, company_name, expires_at } = await usable(database, token);
  return { email, role, company_name, expires_at: expires_at.toISOString() };
}

interface Acceptance {
  readonly token: string;
  readonly full_name: string;
  readonly password: string;
}

/** Creates the user, and signs them in. Throws `Refused`. */
export async function accept(context: VisitorContext, { token, ...choices }: Acceptance): Promise<SignedIn> {
  return acceptOpen(context, await usable(context.database, token), choices);
}

/** `also`: runs in the same transaction. The caller has checked that the invitation is for this person. */
export async function acceptOpen(
  context: VisitorContext,
  invited: InvitationTo,
  { full_name, password }: Omit<Acceptance, "token">,
  also: (transaction: DatabaseTransaction, user: SignInUser) => Promise<void> = async () => undefined,
): Promise<SignedIn> {
  const fullName = full_name.trim();
  const known = [...invited.email.split(/[@.]/), ...fullName.split(/\s+/u), invited.company_name];
  const passwordHash = await inPasswordTurn(context, context.visitor.ipAddress, async () => {
    requireStrongPassword(password, known);
    return hashPassword(password);
  });
  const signedIn = await context.inTransaction(async (transaction) => {
    // Of several at once, one deletes it.
    const accepted = await deleteInvitation(transaction, invited.company_id, invited.id);
    if (accepted === null) throw unusable();
    const user = {
      id: randomUUID(),
      companyId: invited.company_id,
      email: accepted.email,
      fullName,
      firstName: fullName.split(/\s+/u)[0] ?? fullName,
      role: accepted.role,
      siteIds: accepted.site_ids,
      labelIds: accepted.label_ids,
      passwordHash,
    };
    if (!(await insertUser(transaction, user))) throw taken(accepted.email);
    const added = await findSignInUser(transaction, { id: user.id });
    if (added === null) throw new Error("The user was not inserted");
    await recordBy(transaction, added, context.visitor, "acceptInvitation", { email: user.email });
    await also(transaction, added);
    return startSession(transaction, added, context);
  });
  context.identities.forgetKeys();
  return signedIn;
}

async function usable(database: VisitorContext["database"], token: string): Promise<OpenInvitation> {
  const { id, secretHash } = readToken(token, "invitation");
  const found = await findInvitation(database, id);
  if (found === null || !isSameHash(found.secret_hash, secretHash)) throw unusable();
  return found;
}

function unusable(): Refused {
  return new Refused(
    "invitation_unusable",
    "This invitation is unknown, or it was accepted, withdrawn or has expired. Ask the person who sent it for a new one.",
  );
}

async function refuseTaken(transaction: DatabaseTransaction, email: string): Promise<void> {
  if (await isEmailTaken(transaction, email)) throw taken(email);
}

function taken(email: string): Refused {
  return new Refused(
    "user_exists",
    `There is a user with the e-mail address ${email}. Each address can have one user.`,
  );
}
