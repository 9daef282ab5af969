/** Plugins, themes, vulnerabilities and rollouts of the whole company. */
import { queryOptions } from "@tanstack/react-query";
import { answerOf, api, type Schemas } from "./client.ts";
import type { PackageKind } from "./packages.ts";

export type RolloutSummary = Schemas["RolloutSummary"];

/** A plugin or theme in all environments. */
export type FleetPackage = Omit<Schemas["CompanyPlugin"], "environments">;

const limit = 200;
/** Milliseconds between two looks at a rollout under way. */
const lookMilliseconds = 2_000;

export const fleetQuery = (company: string, kind: PackageKind, search: string) =>
  queryOptions({
    queryKey: ["sites", "fleet", kind, company, search],
    queryFn: async ({ signal }): Promise<readonly FleetPackage[]> => {
      const params = { path: { id: company }, query: { limit, ...(search !== "" && { search }) } };
      if (kind === "themes") {
        return (await answerOf(api.GET("/company/{id}/wp-themes", { params, signal }))).company.themes.items;
      }
      return (await answerOf(api.GET("/company/{id}/wp-plugins", { params, signal }))).company.plugins.items;
    },
  });

export const rolloutsQuery = (company: string) =>
  queryOptions({
    queryKey: ["sites", "rollouts", company],
    queryFn: async ({ signal }) => {
      const params = { path: { id: company }, query: { limit } };
      return (await answerOf(api.GET("/company/{id}/rollouts", { params, signal }))).company.rollouts.items;
    },
    refetchInterval: ({ state }) => (state.data?.some(isUnderWay) === true ? lookMilliseconds : false),
  });

export const rolloutQuery = (company: string, rolloutId: string) =>
  queryOptions({
    queryKey: ["sites", "rollouts", company, rolloutId],
    queryFn: async ({ signal }) => {
      const params = { path: { id: company, rollout_id: rolloutId } };
      return (await answerOf(api.GET("/company/{id}/rollouts/{rollout_id}", { params, signal }))).rollout;
    },
    refetchInterval: ({ state }) => (state.data === undefined || isUnderWay(state.data) ? lookMilliseconds : false),
  });

export const isUnderWay = ({ ended_at: endedAt }: Pick<RolloutSummary, "ended_at">): boolean => endedAt === null;
