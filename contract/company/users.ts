/** Users of a company. */
import { Type } from "typebox";
import { endpoint, result } from "../endpoint.ts";
import { dateTime, nullable, uuid } from "../schema.ts";
import { LabelBrief } from "../sites/labels.ts";
import { changedSiteIds, chosenLabelIds, labelIds, role, siteIds } from "./people.ts";

const User = Type.Object(
  {
    id: uuid("Id of the user."),
    email: Type.String({ format: "email", description: "E-mail address.", examples: ["ada@example.com"] }),
    image: Type.String({
      format: "uri",
      description: "An image with the user's initials, as a `data:` address.",
      examples: ["data:image/svg+xml,%3Csvg%20xmlns=%22http://www.w3.org/2000/svg%22/%3E"],
    }),
    full_name: Type.String({ description: "Full name.", examples: ["Ada Lovelace"] }),
    role,
    site_ids: siteIds,
    label_ids: labelIds,
  },
  { title: "User" },
);

const CompanyUser = Type.Object(
  {
    user: User,
    sites: nullable(
      Type.Array(
        Type.Object({
          id: uuid("Id of the site."),
          display_name: Type.String({ description: "Name of the site.", examples: ["Example Shop"] }),
        }),
        { description: "The sites of `site_ids`, by name; null: all of the company." },
      ),
    ),
    labels: Type.Array(LabelBrief, { description: "The labels of `label_ids` that exist, by name.", examples: [[]] }),
    last_signed_in_at: nullable(
      dateTime("When the user last signed in with a password; null: never, or more than 400 days ago."),
    ),
    has_second_factor: Type.Boolean({ description: "Whether the user needs a second factor to sign in." }),
    locked_because: nullable(
      Type.String({
        description: "Why the caller can neither remove this user nor change their role; null: the caller can.",
        examples: ["This is the company's only owner. Make somebody else an owner first."],
      }),
    ),
  },
  { title: "CompanyUser" },
);

const userOfCompany = Type.Object({ id: uuid("Id of the company."), user_id: uuid("Id of the user.") });

export const listUsers = endpoint({
  method: "GET",
  path: "/company/{id}/users",
  tag: "Users",
  summary: "List a company's users",
  description: "Oldest first. Each API key belongs to one of them and has at most their permissions.",
  params: Type.Object({ id: uuid("Id of the company.") }),
  responses: {
    200: result(["company"], "The users.", Type.Object({ users: Type.Array(CompanyUser) })),
  },
  verb: "read",
  resource: { kind: "company", from: "params.id", underSiteScope: "closed" },
});

export const changeUser = endpoint({
  method: "PUT",
  path: "/company/{id}/users/{user_id}",
  tag: "Users",
  summary: "Change a user's role and sites",
  description:
    "In force when this call returns, also for the user's sessions and API keys. Only owners can change owners, or make somebody one.",
  params: userOfCompany,
  body: Type.Object(
    { role, site_ids: changedSiteIds, label_ids: Type.Optional(chosenLabelIds) },
    { title: "UserChange" },
  ),
  responses: { 200: result(["user"], "The user.", User) },
  refusals: ["last_owner", "needs_all_sites", "unknown_site", "unknown_label"],
  verb: "users",
  role: "admin",
  resource: { kind: "company", from: "params.id", underSiteScope: "closed" },
});

export const removeUser = endpoint({
  method: "DELETE",
  path: "/company/{id}/users/{user_id}",
  tag: "Users",
  summary: "Remove a user",
  description:
    "With their sessions and API keys, which are refused when this call returns, and the API keys that were created with those. Sites and the activity log stay. Only owners can remove owners.",
  params: userOfCompany,
  responses: { 200: result(["user"], "The removed user.", User) },
  refusals: ["last_owner"],
  verb: "users",
  role: "admin",
  resource: { kind: "company", from: "params.id", underSiteScope: "closed" },
});

export const resetSecondFactor = endpoint({
  method: "DELETE",
  path: "/company/{id}/users/{user_id}/second-factor",
  tag: "Users",
  summary: "Remove the second factor of another user",
  description:
    "For somebody who has lost their authenticator app or passkey, and their recovery codes. Removes all of them. Their sessions end. They can sign in with their password alone, and then add another one.",
  params: userOfCompany,
  responses: { 200: result(["user"], "The user.", User) },
  refusals: ["own_second_factor"],
  verb: "users",
  role: "owner",
  resource: { kind: "company", from: "params.id", underSiteScope: "closed" },
});
