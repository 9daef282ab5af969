/** Schemas that users, invitations and sessions share. */
import { Type } from "typebox";
import { nullable, uuid } from "../schema.ts";

/** The roles of users. */
export const role = Type.Enum(["owner", "admin", "developer", "billing", "viewer"], {
  title: "Role",
  description:
    "`owner` and `admin`: everything. `developer`: everything but users, other users' keys and deleting sites. `billing` and `viewer`: reads only.",
});

export const siteIds = nullable(
  Type.Array(uuid("Id of a site."), {
    description: "The only sites that the user can see and change; null: all of the company.",
  }),
);

/** As a request has it. */
export const chosenSiteIds = nullable(
  Type.Array(uuid("Id of a site."), {
    minItems: 1,
    maxItems: 1_000,
    description: "The only sites that the user can see and change. Null: all, as owners and admins have.",
  }),
);

/** The same of somebody who may have no sites already, such as after theirs have been deleted. */
export const changedSiteIds = nullable(
  Type.Array(uuid("Id of a site."), {
    maxItems: 1_000,
    description:
      "The only sites that the user can see and change; empty: none but those of `label_ids`. Null: all, as owners and admins have.",
  }),
);

export const labelIds = nullable(
  Type.Array(uuid("Id of a label."), {
    description:
      "Labels: the user can also see and change the sites that have one of them at the time. `site_ids` is then not null.",
  }),
);

/** As a request has it. */
export const chosenLabelIds = nullable(
  Type.Array(uuid("Id of a label."), {
    minItems: 1,
    maxItems: 100,
    description:
      "Labels: the user can see and change the sites of `site_ids`, if any, and the sites that have one of these labels at the time. Null or absent: `site_ids` alone decides.",
  }),
);

/** Tells a client which actions to offer. Every call is authorized again. */
export const permissions = Type.Array(
  Type.Enum([
    "create_sites",
    "change_sites",
    "delete_sites",
    "change_limits",
    "see_limits",
    "see_rollouts",
    "manage_rollouts",
    "see_users",
    "manage_users",
    "manage_owners",
    "manage_sign_in",
    "see_keys",
    "manage_keys",
    "manage_labels",
  ]),
  {
    description:
      "What the user may do in a session, by their role and sites. `change_sites`: those that they see, and what belongs to them. `delete_sites`: those that they see, and the last backups of deleted ones. `change_limits`: limits of environments. `see_limits`: limits of the company. `see_rollouts` and `manage_rollouts`: rollouts of updates. `manage_users`: invite, change and remove users who are no owners; `manage_owners`: also owners. `manage_sign_in`: require a second factor, and remove that of others. `see_keys` and `manage_keys`: API keys, at least their own. `manage_labels`: labels of sites.",
    examples: [["change_sites"]],
  },
);

export const email = Type.String({
  format: "email",
  maxLength: 254,
  description: "E-mail address.",
  examples: ["ada@example.com"],
});

/** An existing password. */
export const password = (description: string) =>
  Type.String({ minLength: 1, maxLength: 200, description, examples: ["correct horse battery staple"] });

/** A code of a second factor. */
export const code = Type.String({
  minLength: 1,
  maxLength: 50,
  description: "The present code of the authenticator app. Spaces are ignored.",
  examples: ["287082"],
});

/** Passwords that people choose. `password_too_weak` has the rules beyond the length. */
export function newPassword(description: string) {
  return Type.String({
    minLength: 12,
    maxLength: 200,
    description: `${description} At least 12 characters, and not easy to guess.`,
    examples: ["correct horse battery staple"],
  });
}
