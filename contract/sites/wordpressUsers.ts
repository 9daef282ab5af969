/** WordPress administrators of environments, and login links. */
import { Type } from "typebox";
import { endpoint, result } from "../endpoint.ts";
import { pattern, uuid } from "../schema.ts";
import { emailAddress } from "./wordpress.ts";

const params = Type.Object({ env_id: uuid("Id of the environment.") });

const name = (description: string, example: string) =>
  Type.Optional(
    Type.String({
      maxLength: 100,
      pattern: pattern(
        "^[^\\u0000-\\u001F\\u007F-\\u009F\\u2028\\u2029<>]*$",
        "must be one line of text without control characters, < and >",
      ),
      default: "",
      description,
      examples: [example],
    }),
  );

export const hasWpAdminUser = endpoint({
  method: "GET",
  path: "/sites/environments/{env_id}/wpa-user-exists",
  tag: "WordPress users",
  summary: "Check whether a WordPress administrator exists",
  description:
    "Looks for an administrator with this e-mail address; in a network, for a network administrator. Case is ignored. Write `+` as `%2B` in the query.",
  params,
  query: Type.Object({ email: emailAddress("E-mail address of the user.") }),
  responses: {
    200: result(
      ["has_wp_admin_user"],
      "Whether such an administrator exists.",
      Type.Boolean({ description: "Whether such an administrator exists.", examples: [true] }),
    ),
  },
  refusals: ["environment_away", "no_wordpress", "wordpress_unreadable"],
  verb: "read",
  resource: { kind: "environment", from: "params.env_id" },
});

export const createWpAdminUser = endpoint({
  method: "POST",
  path: "/sites/environments/{env_id}/wpa-create-user",
  tag: "WordPress users",
  summary: "Create a WordPress administrator",
  description:
    "Creates an administrator; in a network, a network administrator. WordPress itself creates the user, so plugins are notified. The login name is derived from the e-mail address. The password is random and not disclosed, and no mail is sent: log in with `wpa-login-url`, or request a new password from WordPress.",
  params,
  body: Type.Object(
    {
      email: emailAddress("E-mail address of the user, not yet used in this environment."),
      first_name: name("First name.", "Grace"),
      last_name: name("Last name.", "Hopper"),
    },
    { title: "WordPressUserCreate" },
  ),
  responses: {
    200: result(
      ["create_wp_admin_user"],
      "The user has been created.",
      Type.Boolean({ description: "Always true.", examples: [true] }),
    ),
  },
  refusals: [
    "environment_away",
    "environment_busy",
    "no_wordpress",
    "wordpress_unreadable",
    "wordpress_user_exists",
    "wordpress_failed",
    "wordpress_unfinished",
  ],
  verb: "write",
  resource: { kind: "environment", from: "params.env_id" },
  changesLive: true,
  bucket: "creations",
});

export const createWpLoginLink = endpoint({
  method: "POST",
  path: "/sites/environments/{env_id}/wpa-login-url",
  tag: "WordPress users",
  summary: "Create a login link for an administrator",
  description:
    "The link works once, for one minute, even if a plugin has moved the login page. It leads to a page with one button that opens the dashboard, at the primary domain, or at the temporary one if the primary domain does not point here. Anyone who has the link can use it: keep it secret.",
  params,
  body: Type.Object(
    { email: emailAddress("E-mail address of an administrator of the environment.") },
    { title: "WordPressLogin" },
  ),
  responses: {
    200: result(
      ["login_link"],
      "The login link.",
      Type.String({ description: "The link.", examples: ["http://demo.localhost:8081/sitewright-login?token=…"] }),
    ),
  },
  refusals: [
    "environment_away",
    "no_wordpress",
    "wordpress_unreadable",
    "wordpress_user_missing",
    "wordpress_user_no_administrator",
    "site_unavailable",
  ],
  verb: "write",
  resource: { kind: "environment", from: "params.env_id" },
  changesLive: true,
});
