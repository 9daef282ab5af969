/** Accounts at the OpenID Connect provider, with which a user signs in. */
import { Type } from "typebox";
import { endpoint, result } from "../endpoint.ts";
import { dateTime, nullable, uuid } from "../schema.ts";
import { PasswordCheck } from "./secondFactors.ts";

const ProviderAccount = Type.Object(
  {
    id: uuid("Id of the link between account and user."),
    provider: Type.String({ description: "Name of the provider.", examples: ["Example Login"] }),
    email: Type.String({
      description: "The e-mail address of the account at the last sign-in. It may differ from the user's.",
      examples: ["ada@example.com"],
    }),
    created_at: dateTime("When it was linked."),
    last_used_at: nullable(dateTime("When somebody last signed in with it; null: never.")),
  },
  { title: "ProviderAccount" },
);

export const listProviderAccounts = endpoint({
  method: "GET",
  path: "/session/provider-accounts",
  tag: "Sessions",
  summary: "List the user's accounts at the provider",
  description: "Those with which the user of this session can sign in, oldest first.",
  responses: { 200: result(["provider_accounts"], "The accounts.", Type.Array(ProviderAccount)) },
  verb: "read",
  resource: { kind: "session" },
});

export const linkProviderAccount = endpoint({
  method: "POST",
  path: "/session/provider-accounts",
  tag: "Sessions",
  summary: "Link an account at the provider",
  description:
    "The one that `POST /sessions/provider/answer` has read in this browser. Begin with `POST /sessions/provider/begin` and the purpose `link`, in the same session. From now on, the user can sign in with it; a second factor is still needed.",
  body: PasswordCheck,
  responses: { 201: result(["provider_account"], "The account has been linked.", ProviderAccount) },
  refusals: [
    "provider_unavailable",
    "provider_answer_unusable",
    "provider_account_taken",
    "wrong_credentials",
    "too_many_sign_ins",
  ],
  verb: "write",
  role: "billing",
  resource: { kind: "session" },
  bucket: "creations",
});

export const unlinkProviderAccount = endpoint({
  method: "DELETE",
  path: "/session/provider-accounts/{account_id}",
  tag: "Sessions",
  summary: "Unlink an account at the provider",
  description: "It no longer signs in. Sessions stay.",
  params: Type.Object({ account_id: uuid("Id of the link between account and user.") }),
  body: PasswordCheck,
  responses: { 200: result(["provider_account"], "The account has been unlinked.", ProviderAccount) },
  refusals: ["wrong_credentials", "too_many_sign_ins"],
  verb: "write",
  role: "billing",
  resource: { kind: "session" },
  bucket: "creations",
});
