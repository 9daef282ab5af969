/** Sites, their environments, backups and domains. */
import { queryOptions } from "@tanstack/react-query";
import { answerOf, api, type Schemas } from "./client.ts";

export type Environment = Schemas["Environment"];
export type Backup = Schemas["Backup"];

export const siteQuery = (siteId: string) =>
  queryOptions({
    queryKey: ["sites", siteId],
    queryFn: async ({ signal }) => {
      const params = { path: { site_id: siteId } };
      const [{ site }, { site: withEnvironments }] = await Promise.all([
        answerOf(api.GET("/sites/{site_id}", { params, signal })),
        answerOf(api.GET("/sites/{site_id}/environments", { params, signal })),
      ]);
      return { ...site, environments: withEnvironments.environments };
    },
  });

export const backupsQuery = (environmentId: string) =>
  queryOptions({
    queryKey: ["sites", "backups", environmentId],
    queryFn: async ({ signal }) => {
      const params = { path: { env_id: environmentId } };
      const { environment } = await answerOf(api.GET("/sites/environments/{env_id}/backups", { params, signal }));
      return environment.backups;
    },
  });

export const domainsQuery = (environmentId: string) =>
  queryOptions({
    queryKey: ["sites", "domains", environmentId],
    queryFn: async ({ signal }) => {
      const params = { path: { env_id: environmentId } };
      const { environment } = await answerOf(api.GET("/sites/environments/{env_id}/domains", { params, signal }));
      return environment.site_domains;
    },
  });

export const regionsQuery = (companyId: string) =>
  queryOptions({
    queryKey: ["regions", companyId],
    queryFn: async ({ signal }) => {
      const params = { path: { id: companyId } };
      const { company } = await answerOf(api.GET("/company/{id}/available-regions", { params, signal }));
      return company.available_regions;
    },
    staleTime: Number.POSITIVE_INFINITY,
  });

/** PHP versions of a region, or of all regions. */
export const phpVersionsQuery = (companyId: string, region?: string) =>
  queryOptions({
    queryKey: ["php-versions", companyId, region],
    queryFn: async ({ signal }) => {
      const params = { path: { id: companyId }, query: { ...(region !== undefined && { region }) } };
      const { company } = await answerOf(api.GET("/company/{id}/available-php-versions", { params, signal }));
      return company.available_php_versions;
    },
  });

export const vulnerabilitiesQuery = (companyId: string, limit: number) =>
  queryOptions({
    queryKey: ["sites", "vulnerabilities", companyId, limit],
    queryFn: async ({ signal }) => {
      const params = { path: { id: companyId }, query: { limit } };
      const { company } = await answerOf(api.GET("/company/{id}/vulnerabilities", { params, signal }));
      return company.vulnerabilities;
    },
  });
