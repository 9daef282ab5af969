/** Labels of sites. */
import { queryOptions } from "@tanstack/react-query";
import { answerOf, api, type Schemas } from "./client.ts";

export type Label = Schemas["Label"];

/** Labels are shown with sites, so they are read again with these. */
export const labelsQuery = (company: string) =>
  queryOptions({
    queryKey: ["sites", "labels", company],
    queryFn: async ({ signal }) => {
      const params = { path: { id: company } };
      return (await answerOf(api.GET("/company/{id}/labels", { params, signal }))).labels;
    },
  });

export const createLabel = (company: string, name: string) =>
  answerOf(api.POST("/company/{id}/labels", { params: { path: { id: company } }, body: { name } }));

export const renameLabel = (company: string, label: string, name: string) =>
  answerOf(
    api.PUT("/company/{id}/labels/{label_id}", { params: { path: { id: company, label_id: label } }, body: { name } }),
  );

export const deleteLabel = (company: string, label: string) =>
  answerOf(api.DELETE("/company/{id}/labels/{label_id}", { params: { path: { id: company, label_id: label } } }));
