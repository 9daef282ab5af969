/** The people who look after an environment's WordPress. */
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
        "must be one line of text, without control characters and without < and >",
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
  summary: "Ask whether an administrator has an e-mail address",
  description:
    "Only administrators count, and in a network of sites those of the whole network. Whether letters are small or capital makes no difference. A `+` in the address is written `%2B` in the query.",
  params,
  query: Type.Object({ email: emailAddress("E-mail address of the user.") }),
  responses: {
    200: result(["has_wp_admin_user"], "Whether there is such an administrator.", Type.Boolean()),
  },
  verb: "read",
  resource: { kind: "environment", from: "params.env_id" },
});

export const createWpAdminUser = endpoint({
  method: "POST",
  path: "/sites/environments/{env_id}/wpa-create-user",
  tag: "WordPress users",
  summary: "Create a WordPress administrator",
  description:
    "WordPress makes the user, so that plugins hear of it; in a network of sites, one who administers the whole network. The login name is made from the e-mail address. The password is random and nobody is told it, and no mail is sent: the user comes in by `wpa-login-url`, or asks WordPress for a new password.",
  params,
  body: Type.Object(
    {
      email: emailAddress("E-mail address of the user. Nobody in the environment may have it yet."),
      first_name: name("First name.", "Grace"),
      last_name: name("Last name.", "Hopper"),
    },
    { title: "WordPressUserCreate" },
  ),
  responses: {
    200: result(
      ["create_wp_admin_user"],
      "The user is there.",
      Type.Boolean({ description: "Always true.", examples: [true] }),
    ),
  },
  verb: "write",
  resource: { kind: "environment", from: "params.env_id" },
  changesLive: true,
  bucket: "creations",
});

export const createWpLoginLink = endpoint({
  method: "POST",
  path: "/sites/environments/{env_id}/wpa-login-url",
  tag: "WordPress users",
  summary: "Create a link that logs an administrator in",
  description:
    "Works once, for one minute, and only at this environment; also where a plugin has moved the login page. Whoever opens it presses one button and is at the dashboard. Anybody who has the link may do so: keep it secret.",
  params,
  body: Type.Object(
    { email: emailAddress("E-mail address of an administrator of the environment.") },
    { title: "WordPressLogin" },
  ),
  responses: {
    200: result(
      ["login_link"],
      "The link.",
      Type.String({ examples: ["http://demo.localhost:8081/sitewright-login?token=…"] }),
    ),
  },
  verb: "write",
  resource: { kind: "environment", from: "params.env_id" },
  changesLive: true,
});
