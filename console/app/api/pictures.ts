/** Screenshots of pages from before and after an update. */
import { queryOptions } from "@tanstack/react-query";
import { answerOf, api, type Schemas } from "./client.ts";

export type ComparedPage = Schemas["ComparedPage"];

/** The pages that an operation has compared, without the screenshots. */
export const comparedPagesQuery = (operationId: string) =>
  queryOptions({
    queryKey: ["operation", operationId, "pictures"],
    queryFn: async ({ signal }) => {
      const params = { path: { operation_id: operationId } };
      return (await answerOf(api.GET("/operations/{operation_id}/pictures", { params, signal }))).operation.pictures;
    },
  });

/** The two screenshots of one page. Null: they have been deleted. */
export const pictureQuery = (operationId: string, path: string) =>
  queryOptions({
    queryKey: ["operation", operationId, "pictures", path],
    queryFn: async ({ signal }) => {
      const params = { path: { operation_id: operationId }, query: { path } };
      const { operation } = await answerOf(api.GET("/operations/{operation_id}/pictures", { params, signal }));
      const { before, after } = operation.pictures[0] ?? {};
      return before === undefined || after === undefined ? null : { before, after };
    },
    staleTime: Number.POSITIVE_INFINITY,
  });
