/** The settings that sites' addresses depend on. They stay as they were at the last start until someone sets them. */
import { resolve } from "node:path";
import { readChosen } from "./records.ts";

/** The environment, with the ports of the sites and their suffix as at the last start where it doesn't say otherwise. */
export function withKeptAddresses(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const chosen = readChosen(resolve(env.SITEWRIGHT_DATA || "data"));
  if (chosen === null) return env;
  const kept = {
    SITEWRIGHT_EDGE_PORT: String(chosen.edgePort),
    ...(chosen.edgeTlsPort === undefined ? {} : { SITEWRIGHT_EDGE_TLS_PORT: String(chosen.edgeTlsPort) }),
    SITEWRIGHT_SITE_SUFFIX: chosen.siteSuffix,
  };
  const given = Object.fromEntries(Object.entries(env).filter(([, value]) => value !== undefined && value !== ""));
  return { ...env, ...kept, ...given };
}
