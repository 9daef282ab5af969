/**
 * Signing in through the OpenID Connect provider. An account there signs in the user to whom it is linked, by issuer and subject: a later
 * change of its e-mail address takes over nobody. It is linked only with the user's password, or by accepting an invitation to its
 * verified address. Nobody else becomes a user.
 */
import { randomUUID } from "node:crypto";
import type { UsedPasskey } from "@sitewright/contract/company/webAuthn.ts";
import { AnswerRefused, ProviderUnavailable } from "@sitewright/server/openid/failures.ts";
import { isSameIssuer, type SignInProvider } from "@sitewright/server/openid/signInProvider.ts";
import { listInvitationsTo } from "@sitewright/server/store/company/invitations.ts";
import {
  findLinkedUser,
  insertProviderAccount,
  noteProviderAccountUse,
} from "@sitewright/server/store/company/providerAccounts.ts";
import { findSignInUser, type SignInUser } from "@sitewright/server/store/company/sessions.ts";
import type { DatabaseTransaction } from "@sitewright/server/store/database.ts";
import type { Static } from "typebox";
import type { App } from "../context.ts";
import { PasswordChangeRequired, Refused } from "../failures.ts";
import { acceptOpen } from "./invitations.ts";
import { recordBy, type SignedIn, type VisitorContext } from "./newSessions.ts";
import {
  openIdentity,
  openPending,
  type Purpose,
  sealIdentity,
  sealPending,
  unusable,
  useOnce,
} from "./providerIdentities.ts";
import { signInWithoutPassword, signInWithPassword } from "./signIns.ts";

type Identity = ReturnType<typeof openIdentity>;

/** The page of the console to which the provider sends the browser back. */
const answerPath = "/sign-in/provider";

/** The provider as people see it at the address of the request, or null. */
export function providerOption({ signInProvider, origin }: Pick<VisitorContext, "signInProvider" | "origin">) {
  if (signInProvider === null) return null;
  return { name: signInProvider.name, unavailable_because: obstacleOf(signInProvider, origin) };
}

/** Returns the address of the provider's page, and a cookie. Throws `Refused` if there is no provider, or it does not answer. */
export async function begin(context: VisitorContext, purpose: Purpose) {
  const provider = usableProvider(context);
  const { url, pending } = await provider.begin(`${context.origin}${answerPath}`).catch(refuse);
  const session = purpose === "link" ? context.earlierToken.id : null;
  return { url, cookie: sealPending(context, { ...pending, purpose, session }) };
}

/** Checks the provider's answer, which is used up whether it is valid or not. Returns who has signed in there, and a cookie. */
export async function readAnswer(context: VisitorContext, answer: string) {
  const provider = usableProvider(context);
  const pending = openPending(context, context.signInCookie);
  await context.inTransaction((transaction) => useOnce(transaction, pending));
  const { issuer, subject, ...found } = await provider.finish(answer, pending).catch(refuse);
  const email = acceptedEmail(provider, found);
  const { purpose, session } = pending;
  return { email, purpose, cookie: sealIdentity(context, { issuer, subject, email, purpose, session }) };
}

/** Who has signed in at the provider for this purpose. Throws `Refused`, also if the settings no longer accept them. */
export function usableIdentity(
  context: Pick<VisitorContext, "signInProvider" | "origin" | "sealer" | "signInCookie">,
  purpose: Purpose,
): Identity {
  const provider = usableProvider(context);
  const identity = openIdentity(context, context.signInCookie, purpose);
  if (!isSameIssuer(provider.issuer, identity.issuer) || !accepts(provider, identity.email)) throw unusable();
  return identity;
}

interface ProviderSignIn {
  readonly password?: string;
  readonly code?: string;
  readonly passkey?: Static<typeof UsedPasskey>;
  readonly invitation?: { readonly id: string; readonly full_name: string; readonly password: string };
}

/** Starts a session of the user with the account that `readAnswer` has found. Throws `Refused`, also if more is needed. */
export async function signInWithProvider(context: VisitorContext, request: ProviderSignIn): Promise<SignedIn> {
  const identity = usableIdentity(context, "sign_in");
  const { database } = context;
  const linkedId = await findLinkedUser(database, identity);
  const linked = linkedId === null ? null : await findSignInUser(database, { id: linkedId });
  if (linked !== null) return signInLinked(context, identity, linked, request);
  const found = await findSignInUser(database, { email: identity.email });
  return found === null ? acceptInvitation(context, identity, request) : linkUser(context, identity, found, request);
}

function signInLinked(
  context: VisitorContext,
  identity: Identity,
  user: SignInUser,
  request: ProviderSignIn,
): Promise<SignedIn> {
  return signInWithoutPassword(context, user, request, async (transaction) => {
    await useOnce(transaction, identity);
    const isLinked = await noteProviderAccountUse(transaction, { ...identity, userId: user.id });
    if (!isLinked) throw unusable();
  });
}

/**
 * The password shows that the account is that of the user, and not of somebody who has got their address later. A generated one links
 * nothing: somebody else has seen it.
 */
function linkUser(
  context: VisitorContext,
  identity: Identity,
  user: SignInUser,
  { password, ...factor }: ProviderSignIn,
): Promise<SignedIn> {
  const { email } = identity;
  if (user.must_change_password) {
    throw new PasswordChangeRequired(
      "Sign in with your password first, and choose another one. You can link your account afterwards.",
    );
  }
  if (password === undefined) {
    throw new Refused(
      "password_needed",
      `The account ${email} is not linked to your user here yet. Enter your password here once to link it.`,
    );
  }
  return signInWithPassword(context, { found: user, email, password, ...factor }, (transaction) =>
    useAndLink(context, transaction, identity, user),
  );
}

async function acceptInvitation(
  context: VisitorContext,
  identity: Identity,
  { invitation: chosen }: ProviderSignIn,
): Promise<SignedIn> {
  const { email } = identity;
  const invitations = await listInvitationsTo(context.database, email);
  if (invitations.length === 0) {
    const message = `Nobody here has the e-mail address ${email}, and signing in makes nobody a user. Ask an owner of your company for an invitation to this address.`;
    throw new Refused("provider_user_unknown", message);
  }
  const invited = invitations.find(({ id }) => id === chosen?.id.toLowerCase());
  if (chosen === undefined || invited === undefined) {
    const shown = invitations.map(({ id, company_name, role }) => ({ id, company_name, role }));
    const message = `You are invited as ${email}. Accept the invitation to become a user.`;
    throw new Refused("acceptance_needed", message, { invitations: shown });
  }
  return acceptOpen(context, invited, chosen, (transaction, user) => useAndLink(context, transaction, identity, user));
}

async function useAndLink(
  context: VisitorContext,
  transaction: DatabaseTransaction,
  identity: Identity,
  user: SignInUser,
): Promise<void> {
  await useOnce(transaction, identity);
  const account = { ...identity, id: randomUUID(), userId: user.id };
  if ((await insertProviderAccount(transaction, account)) === null) throw taken();
  await noteProviderAccountUse(transaction, account);
  const parameters = { email: identity.email, provider: usableProvider(context).name };
  await recordBy(transaction, user, context.visitor, "linkProviderAccount", parameters);
}

/** An account signs in one user, and a user has one account at a provider: with another one, the first may have changed hands. */
export function taken(): Refused {
  return new Refused(
    "provider_account_taken",
    "This account is linked to another user, or another account of yours is linked. Sign in with your password, and unlink that one first.",
  );
}

/** Throws `Refused` if there is none, or not at the address of the request. */
export function usableProvider({ signInProvider, origin }: Pick<App, "signInProvider"> & { readonly origin: string }) {
  if (signInProvider === null) {
    throw new Refused("provider_unavailable", "This installation has no provider for signing in. Use your password.");
  }
  const obstacle = obstacleOf(signInProvider, origin);
  if (obstacle !== null) throw new Refused("provider_unavailable", obstacle);
  return signInProvider;
}

/** Why people can't sign in through the provider at this address. Its answer would cross the network in plain text. */
function obstacleOf({ name }: SignInProvider, origin: string): string | null {
  if (!URL.canParse(origin))
    return `${name} needs an address that the server can read. Check the proxy in front of it.`;
  const { protocol, hostname } = new URL(origin);
  if (protocol === "https:" || /^(localhost|127(\.\d+){3}|\[::1\])$/.test(hostname)) return null;
  return `Signing in with ${name} needs HTTPS. The operator can give the console a name with HTTPS (SITEWRIGHT_API_NAME).`;
}

/** Throws `Refused` unless the provider vouches for the address, and its domain is accepted. */
function acceptedEmail(
  provider: SignInProvider,
  { email, isVerified }: { readonly email: string | null; readonly isVerified: boolean },
): string {
  const { name } = provider;
  if (email === null || email.length > 254 || !email.includes("@")) {
    throw new Refused(
      "provider_email_refused",
      `${name} does not tell your e-mail address. Sign in with your password.`,
    );
  }
  if (!isVerified) {
    const message = `${name} does not say that ${email} is verified to be yours. Verify it there, or sign in with your password.`;
    throw new Refused("provider_email_refused", message);
  }
  if (!accepts(provider, email)) {
    const message = `Addresses at ${domainOf(email)} can't be used with ${name} here. Sign in there with another account, or here with your password.`;
    throw new Refused("provider_email_refused", message);
  }
  return email;
}

const accepts = ({ emailDomains }: SignInProvider, email: string): boolean =>
  emailDomains === null || emailDomains.includes(domainOf(email));

const domainOf = (email: string): string => email.slice(email.lastIndexOf("@") + 1).toLowerCase();

function refuse(error: unknown): never {
  if (error instanceof ProviderUnavailable) throw new Refused("provider_unavailable", error.message);
  if (error instanceof AnswerRefused) throw new Refused("provider_answer_unusable", error.message);
  throw error;
}
