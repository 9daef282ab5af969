/** Invitations, with which people become users of a company. */
import { Type } from "typebox";
import { endpoint, result } from "../endpoint.ts";
import { dateTime, line, uuid } from "../schema.ts";
import { chosenLabelIds, chosenSiteIds, email, labelIds, newPassword, role, siteIds } from "./people.ts";
import { SignedIn } from "./sessions.ts";

const Invitation = Type.Object(
  {
    id: uuid("Id of the invitation."),
    email,
    role,
    site_ids: siteIds,
    label_ids: labelIds,
    invited_by: uuid("Id of the user who sent it."),
    created_at: dateTime("When it was created."),
    expires_at: dateTime("Until when it can be accepted."),
  },
  { title: "Invitation" },
);

const company = Type.Object({ id: uuid("Id of the company.") });
const ofCompany = { kind: "company", from: "params.id", underSiteScope: "closed" } as const;

export const listInvitations = endpoint({
  method: "GET",
  path: "/company/{id}/invitations",
  tag: "Users",
  summary: "List a company's invitations",
  description: "Those that have been neither accepted nor withdrawn, newest first, also expired ones.",
  params: company,
  responses: { 200: result(["invitations"], "The invitations.", Type.Array(Invitation)) },
  verb: "read",
  role: "admin",
  resource: ofCompany,
});

export const inviteUser = endpoint({
  method: "POST",
  path: "/company/{id}/invitations",
  tag: "Users",
  summary: "Invite a user",
  description:
    "Send `url` to the person, unless the installation mails it (`is_mailed`): it lets its reader become a user with this role, once, within a week. It ends if the inviting user is removed or gets another role. It is shown only in this response. A new invitation replaces an earlier one to the same address. Only owners can invite owners. After 200 mailed invitations of a company, 3 of a company to the same address, or 10 of all companies to the same address, each further one has to wait longer (429, at most an hour); one is forgotten each hour.",
  params: company,
  body: Type.Object(
    { email, role, site_ids: Type.Optional(chosenSiteIds), label_ids: Type.Optional(chosenLabelIds) },
    { title: "InvitationCreate" },
  ),
  responses: {
    201: result(
      [],
      "The invitation has been created.",
      Type.Object({
        invitation: Invitation,
        url: Type.String({
          description: "Address of the page on which the invitation is accepted.",
          examples: ["https://sitewright.example.com/invitation#…"],
        }),
        is_mailed: Type.Boolean({
          description: "Whether it is also mailed to the address, which the installation's mail server decides.",
        }),
      }),
    ),
  },
  refusals: ["user_exists", "needs_all_sites", "unknown_site", "unknown_label", "too_many_invitations"],
  verb: "users",
  role: "admin",
  resource: ofCompany,
  bucket: "creations",
});

export const withdrawInvitation = endpoint({
  method: "DELETE",
  path: "/company/{id}/invitations/{invitation_id}",
  tag: "Users",
  summary: "Withdraw an invitation",
  description: "Its link is refused when this call returns.",
  params: Type.Object({ id: uuid("Id of the company."), invitation_id: uuid("Id of the invitation.") }),
  responses: { 200: result(["invitation"], "The withdrawn invitation.", Invitation) },
  verb: "users",
  role: "admin",
  resource: ofCompany,
});

const token = Type.String({
  minLength: 1,
  maxLength: 200,
  description: "The part of the invitation's `url` after the `#`.",
  examples: ["si_…"],
});

export const checkInvitation = endpoint({
  method: "POST",
  path: "/invitations/check",
  tag: "Users",
  summary: "Show an invitation to the invited person",
  description: "Changes nothing.",
  body: Type.Object({ token }, { title: "InvitationCheck" }),
  responses: {
    200: {
      description: "The invitation.",
      body: Type.Object({
        invitation: Type.Object({
          email,
          role,
          company_name: Type.String({ description: "Name of the company.", examples: ["Example Agency"] }),
          expires_at: dateTime("Until when it can be accepted."),
        }),
      }),
    },
  },
  refusals: ["invitation_unusable"],
  verb: "write",
  resource: { kind: "anyone" },
});

export const acceptInvitation = endpoint({
  method: "POST",
  path: "/invitations/accept",
  tag: "Users",
  summary: "Accept an invitation",
  description: "Creates the user and starts a session, as `POST /sessions` does.",
  body: Type.Object(
    {
      token,
      full_name: line(200, "Full name of the person.", "Ada Lovelace"),
      password: newPassword("The password for signing in."),
    },
    { title: "InvitationAccept" },
  ),
  responses: { 201: { description: "The user has been created and signed in.", body: SignedIn } },
  refusals: ["invitation_unusable", "password_too_weak", "user_exists"],
  verb: "write",
  resource: { kind: "anyone" },
  bucket: "creations",
});
