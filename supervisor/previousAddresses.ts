/** Settings that are part of sites' URLs. They keep their values from the last start unless they are set. */
import { resolve } from "node:path";
import { readInstallation } from "./records.ts";

/** Adds the sites' ports and suffix of the last start to the environment if it doesn't set them. */
export function withPreviousAddresses(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const chosen = readInstallation(resolve(env.SITEWRIGHT_DATA || "data"));
  if (chosen === null) return env;
  const previous = {
    SITEWRIGHT_EDGE_PORT: String(chosen.edgePort),
    ...(chosen.edgeTlsPort === undefined ? {} : { SITEWRIGHT_EDGE_TLS_PORT: String(chosen.edgeTlsPort) }),
    ...(chosen.publicPort === undefined ? {} : { SITEWRIGHT_PUBLIC_PORT: String(chosen.publicPort) }),
    ...(chosen.publicTlsPort === undefined ? {} : { SITEWRIGHT_PUBLIC_TLS_PORT: String(chosen.publicTlsPort) }),
    SITEWRIGHT_SITE_SUFFIX: chosen.siteSuffix,
  };
  const given = Object.fromEntries(Object.entries(env).filter(([, value]) => value !== undefined && value !== ""));
  return { ...env, ...previous, ...given };
}
