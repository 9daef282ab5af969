/** The company's API keys. */
import { queryOptions } from "@tanstack/react-query";
import { answerOf, api, type Schemas } from "./client.ts";

export type ApiKey = Schemas["ApiKey"];

export const apiKeysQuery = (company: string) =>
  queryOptions({
    queryKey: ["api-keys", company],
    queryFn: async ({ signal }) => {
      const params = { path: { id: company } };
      return (await answerOf(api.GET("/company/{id}/api-keys", { params, signal }))).api_keys;
    },
  });
