/** Downloads of an environment, and deleted sites. */
import { queryOptions } from "@tanstack/react-query";
import { answerOf, api } from "./client.ts";

/** Milliseconds between two looks while a zip is being prepared. */
const lookMilliseconds = 2_000;

export const downloadsQuery = (environmentId: string) =>
  queryOptions({
    queryKey: ["sites", "downloads", environmentId],
    queryFn: async ({ signal }) => {
      const params = { path: { env_id: environmentId } };
      const { environment } = await answerOf(
        api.GET("/sites/environments/{env_id}/downloadable-backups", { params, signal }),
      );
      return environment.downloadable_backups;
    },
    refetchInterval: ({ state }) =>
      state.data?.some(({ is_generation_in_progress: isUnderWay }) => isUnderWay) === true ? lookMilliseconds : false,
  });

/** Of a backup, or of the environment's present state. */
export function addDownload(environmentId: string, backupId: number | null) {
  const params = { path: { env_id: environmentId } };
  const body = backupId === null ? {} : { backup_id: backupId };
  return answerOf(api.POST("/sites/environments/{env_id}/downloadable-backups", { params, body }));
}

export const deletedSitesQuery = (companyId: string) =>
  queryOptions({
    queryKey: ["sites", "deleted", companyId],
    queryFn: async ({ signal }) => {
      const params = { path: { id: companyId } };
      return (await answerOf(api.GET("/company/{id}/deleted-sites", { params, signal }))).company.deleted_sites;
    },
  });
