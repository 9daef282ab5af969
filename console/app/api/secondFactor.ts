/** The second factor of the person who has signed in, and what the company requires. */
import { queryOptions } from "@tanstack/react-query";
import { answerOf, api } from "./client.ts";

export const secondFactorQuery = queryOptions({
  queryKey: ["second-factor"],
  queryFn: async ({ signal }) => (await answerOf(api.GET("/session/second-factor", { signal }))).second_factor,
});

export const signInRulesQuery = (company: string) =>
  queryOptions({
    queryKey: ["people", "sign-in-rules", company],
    queryFn: async ({ signal }) => {
      const params = { path: { id: company } };
      return (await answerOf(api.GET("/company/{id}/sign-in-rules", { params, signal }))).sign_in_rules;
    },
  });
