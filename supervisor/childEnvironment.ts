/** The environment variables of the processes, and the settings in force. */
import type { Config } from "@sitewright/server/settings/config.ts";
import { secretSettings } from "@sitewright/server/settings/settings.ts";
import { movableSettings } from "@sitewright/server/settings/settingsFile.ts";
import type { Ports } from "./listeners.ts";

interface Given {
  readonly config: Config;
  readonly env: NodeJS.ProcessEnv;
}

/** Settings that only control gets: the secret ones, and those that are useless without them. */
const controlSettings = [
  ...secretSettings,
  "SITEWRIGHT_DNS_SECONDARIES",
  "SITEWRIGHT_DNS_BACKEND",
  "SITEWRIGHT_POWERDNS_URL",
  "SITEWRIGHT_ACME_EAB_KEY_ID",
  "SITEWRIGHT_OIDC_ISSUER",
  "SITEWRIGHT_OIDC_CLIENT_ID",
  "SITEWRIGHT_OIDC_NAME",
  "SITEWRIGHT_OIDC_EMAIL_DOMAINS",
];

/** The same for all children, with concrete ports and without secrets. */
export function childEnvironment({ config, env }: Given, ports: Ports): NodeJS.ProcessEnv {
  const withheld = ["SITEWRIGHT_BACKUP_PASSPHRASE", ...controlSettings];
  const rest = Object.fromEntries(Object.entries(env).filter(([name]) => !withheld.includes(name)));
  return {
    ...rest,
    SITEWRIGHT_DATA: config.data,
    SITEWRIGHT_ASSETS: config.assets,
    SITEWRIGHT_RUN: config.run,
    SITEWRIGHT_SITE_SUFFIX: config.siteSuffix,
    SITEWRIGHT_CONTROL_PORT: String(ports.controlPort),
    SITEWRIGHT_EDGE_PORT: String(ports.edgePort),
    SITEWRIGHT_EDGE_TLS_PORT: String(ports.edgeTlsPort),
    SITEWRIGHT_DNS_PORT: String(ports.dnsPort),
  };
}

/** The settings in force, for `operator backup`, which doesn't know how the installation was started. */
export function effectiveSettings({ config, env }: Given, ports: Ports): Record<string, string> {
  return {
    ...movableSettings(env),
    SITEWRIGHT_CONTROL_PORT: String(ports.controlPort),
    SITEWRIGHT_EDGE_PORT: String(ports.edgePort),
    SITEWRIGHT_EDGE_TLS_PORT: String(ports.edgeTlsPort),
    SITEWRIGHT_DNS_PORT: String(ports.dnsPort),
    SITEWRIGHT_SITE_SUFFIX: config.siteSuffix,
  };
}

export function controlEnvironment(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(controlSettings.flatMap((name) => (env[name] ? [[name, env[name]]] : [])));
}
