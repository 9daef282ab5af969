/** The state of the installation, for its operators. */
import { queryOptions } from "@tanstack/react-query";
import { answerOf, api, type Schemas } from "./client.ts";

export type Installation = Schemas["Installation"];

/** Milliseconds between two looks. */
const lookAgain = 5_000;

export const installationQuery = queryOptions({
  queryKey: ["installation"],
  queryFn: async ({ signal }) => (await answerOf(api.GET("/operator/installation", { signal }))).installation,
  refetchInterval: lookAgain,
});
