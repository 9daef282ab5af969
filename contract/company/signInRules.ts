/** What a company requires of its users when they sign in. */
import { Type } from "typebox";
import { endpoint, result } from "../endpoint.ts";
import { uuid } from "../schema.ts";

const fields = {
  requires_second_factor: Type.Boolean({
    description: "Whether sessions of users without a second factor can do nothing but add one. API keys stay valid.",
    examples: [true],
  }),
};

const company = Type.Object({ id: uuid("Id of the company.") });
const ofCompany = { kind: "company", from: "params.id", underSiteScope: "closed" } as const;

export const getSignInRules = endpoint({
  method: "GET",
  path: "/company/{id}/sign-in-rules",
  tag: "Users",
  summary: "Show a company's rules for signing in",
  description: "They hold for all users of the company.",
  params: company,
  responses: { 200: result(["sign_in_rules"], "The rules.", Type.Object(fields, { title: "SignInRules" })) },
  verb: "read",
  resource: ofCompany,
});

export const changeSignInRules = endpoint({
  method: "PUT",
  path: "/company/{id}/sign-in-rules",
  tag: "Users",
  summary: "Change a company's rules for signing in",
  description: "In force when this call returns, also for sessions that have begun.",
  params: company,
  body: Type.Object(fields, { title: "SignInRulesChange" }),
  responses: { 200: result(["sign_in_rules"], "The rules.", Type.Object(fields, { title: "SignInRules" })) },
  refusals: ["no_second_factor"],
  verb: "users",
  role: "owner",
  resource: ofCompany,
});
