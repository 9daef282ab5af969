/** Signing in through a provider: the redirect, its answer, and linked accounts. */
import { queryOptions } from "@tanstack/react-query";
import { answerOf, api, type Schemas } from "./client.ts";
import { ApiFailure, fieldOf, textAt } from "./failure.ts";
import { type NeededFactor, neededFactorIn } from "./passkeys.ts";
import type { SignedIn } from "./session.ts";

export const providerAccountsQuery = queryOptions({
  queryKey: ["provider-accounts"],
  queryFn: async ({ signal }) => (await answerOf(api.GET("/session/provider-accounts", { signal }))).provider_accounts,
});

export type Purpose = Schemas["ProviderSignInBegin"]["purpose"];

/**
 * The query with which the browser has opened the console, as the provider has written it if it has sent the browser back. This module
 * is loaded before the router, which writes queries in its own way.
 */
export const loadedQuery = window.location.search.slice(1);

/** Where the person wants to go afterwards. The provider sends the browser back to one page only. */
const nextKey = "sitewright-next";

/** Opens the provider's page. */
export async function openProvider(purpose: Purpose, next: string): Promise<void> {
  const { url } = await answerOf(api.POST("/sessions/provider/begin", { body: { purpose } }));
  window.sessionStorage.setItem(nextKey, next);
  window.location.assign(url);
}

/** The address that `openProvider` got, once. */
export function nextAddress(): string {
  const next = window.sessionStorage.getItem(nextKey) ?? "/";
  window.sessionStorage.removeItem(nextKey);
  return next;
}

export interface InvitationChoice {
  readonly id: string;
  readonly company: string;
  readonly role: string;
}

/** The next step of a sign-in through a provider. `message`: the API's own. */
export type Step =
  | { readonly kind: "done"; readonly signedIn: SignedIn }
  | { readonly kind: "factor"; readonly needed: NeededFactor }
  | { readonly kind: "password"; readonly message: string }
  | { readonly kind: "invitation"; readonly message: string; readonly invitations: readonly InvitationChoice[] };

/** Reads the provider's answer. If it is for a sign-in, it is tried at once. */
export async function readAnswer(answer: string) {
  const { email, purpose } = await answerOf(api.POST("/sessions/provider/answer", { body: { answer } }));
  return { email, step: purpose === "link" ? null : await signInWithProvider({}) };
}

/** Signs in, or returns the next step. */
export async function signInWithProvider(body: Schemas["ProviderSignIn"]): Promise<Step> {
  try {
    return { kind: "done", signedIn: await answerOf(api.POST("/sessions/provider", { body })) };
  } catch (error) {
    const step = stepIn(error);
    if (step === null) throw error;
    return step;
  }
}

function stepIn(error: unknown): Step | null {
  const needed = neededFactorIn(error);
  if (needed !== null) return { kind: "factor", needed };
  if (!(error instanceof ApiFailure)) return null;
  const { code, message } = error;
  if (code === "password_needed") return { kind: "password", message };
  if (code === "acceptance_needed") return { kind: "invitation", message, invitations: invitationsIn(error) };
  return null;
}

function invitationsIn({ data }: ApiFailure): readonly InvitationChoice[] {
  const listed = fieldOf(data, "invitations");
  if (!Array.isArray(listed)) return [];
  return listed.map((each: unknown) => ({
    id: textAt(each, "id") ?? "",
    company: textAt(each, "company_name") ?? "",
    role: textAt(each, "role") ?? "",
  }));
}
