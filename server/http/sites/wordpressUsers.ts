import * as users from "@sitewright/server/app/sites/wordpressUsers.ts";
import type { HandlersOf } from "../handling.ts";

export const wordpressUserHandlers: HandlersOf<"hasWpAdminUser" | "createWpAdminUser" | "createWpLoginLink"> = {
  hasWpAdminUser: async (context, { params, query }) => ({
    status: 200,
    body: { has_wp_admin_user: await users.hasAdministrator(context, params.env_id, query.email) },
  }),
  createWpAdminUser: async (context, { params, body }) => {
    await users.createAdministrator(context, params.env_id, body);
    return { status: 200, body: { create_wp_admin_user: true } };
  },
  createWpLoginLink: async (context, { params, body }) => ({
    status: 200,
    body: { login_link: await users.createLoginLink(context, params.env_id, body.email) },
  }),
};
