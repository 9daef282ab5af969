/** Settings of an environment. */
import { queryOptions } from "@tanstack/react-query";
import { answerOf, api } from "./client.ts";

export type Settings = Awaited<ReturnType<typeof readSettings>>;

export const settingsQuery = (environmentId: string) =>
  queryOptions({
    queryKey: ["sites", "settings", environmentId],
    queryFn: ({ signal }) => readSettings(environmentId, signal),
  });

async function readSettings(environmentId: string, signal: AbortSignal) {
  const params = { path: { env_id: environmentId } };
  const query = { params: { query: { environment_id: environmentId } }, signal };
  const [cache, xmlRpc, blocked, limits, checks, automatic] = await Promise.all([
    answerOf(api.GET("/sites/edge-caching/status", query)),
    answerOf(api.GET("/sites/tools/xml-rpc", query)),
    answerOf(api.GET("/sites/tools/denied-ips", query)),
    answerOf(api.GET("/sites/environments/{env_id}/limits", { params, signal })),
    answerOf(api.GET("/sites/environments/{env_id}/update-checks", { params, signal })),
    answerOf(api.GET("/sites/environments/{env_id}/automatic-updates", { params, signal })),
  ]);
  return {
    isCacheOn: cache.environment.edge_caching.is_enabled,
    isXmlRpcOn: xmlRpc.environment.is_enabled,
    blocked: blocked.environment.ip_list,
    limits: limits.environment,
    checks: checks.environment,
    automatic: automatic.environment.automatic_updates,
  };
}
