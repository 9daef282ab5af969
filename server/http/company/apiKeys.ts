import * as apiKeys from "@sitewright/server/app/company/apiKeys.ts";
import { validate } from "@sitewright/server/app/company/validate.ts";
import type { HandlersOf } from "../handling.ts";

export const apiKeyHandlers: HandlersOf<"listApiKeys" | "createApiKey" | "revokeApiKey" | "validateKey"> = {
  listApiKeys: async (context) => ({ status: 200, body: { api_keys: await apiKeys.list(context) } }),
  createApiKey: async (context, { body }) => ({ status: 201, body: await apiKeys.create(context, body) }),
  revokeApiKey: async (context, { params }) => ({
    status: 200,
    body: { api_key: await apiKeys.revoke(context, params.key_id) },
  }),
  validateKey: async (context) => ({ status: 200, body: validate(context) }),
};
