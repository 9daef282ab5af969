/** What a company uses, and what it may use. */
import { queryOptions } from "@tanstack/react-query";
import { answerOf, api } from "./client.ts";

const limit = 100;

export const companyLimitsQuery = (companyId: string) =>
  queryOptions({
    queryKey: ["sites", "company-limits", companyId],
    queryFn: async ({ signal }) => {
      const params = { path: { id: companyId } };
      return (await answerOf(api.GET("/company/{id}/limits", { params, signal }))).company;
    },
  });

/** Of the last 24 hours, the environment that used most processor time first. */
export const usageQuery = (companyId: string) =>
  queryOptions({
    queryKey: ["sites", "usage", companyId],
    queryFn: async ({ signal }) => {
      const params = { path: { id: companyId }, query: { limit } };
      return (await answerOf(api.GET("/company/{id}/usage", { params, signal }))).company.usage;
    },
  });
