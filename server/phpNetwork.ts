/** Network access of sites' PHP processes, in the edge and in WP-CLI. */
import { parseArchiveUrl } from "./settings/archiveUrl.ts";
import type { Config } from "./settings/config.ts";
import { parseSmtpUrl } from "./settings/smtpUrl.ts";

/** PHP processes run as other users, who can't enter `config.run`. */
export function phpFolder(config: Pick<Config, "run">): string {
  return `${config.run}-php`;
}

type NetworkSettings = Pick<
  Config,
  | "run"
  | "siteSuffix"
  | "databaseUrl"
  | "smtpUrl"
  | "wporgUrl"
  | "powerDns"
  | "resolver"
  | "archiveUrl"
  | "archives"
  | "phpMayReach"
>;

export function phpNetwork(config: NetworkSettings) {
  const { powerDns, resolver } = config;
  return {
    run: phpFolder(config),
    siteSuffix: config.siteSuffix,
    forbidden: [
      ...databaseOf(config),
      ...mailServerOf(config),
      ...(powerDns === null ? [] : [hostAndPort(new URL(powerDns.url)), powerDns.address]),
      ...(resolver === null ? [] : [resolver]),
    ],
    internal: archiveStoreOf(config),
    mayReach: config.phpMayReach,
    packageSource: config.wporgUrl,
  };
}

function hostAndPort({ hostname, port, protocol }: URL): string {
  return `${hostname}:${port || (protocol === "https:" ? "443" : "80")}`;
}

/** Plugins may use the same public object store with their own keys. */
function archiveStoreOf({ archiveUrl, archives }: Pick<Config, "archiveUrl" | "archives">): readonly string[] {
  const place = parseArchiveUrl(archiveUrl, archives);
  return place.kind === "folder" ? [] : [hostAndPort(new URL(place.endpoint))];
}

/** PHP must not connect to a database on another machine. Ports of this machine are blocked anyway. */
function databaseOf({ databaseUrl }: Pick<Config, "databaseUrl">): readonly string[] {
  if (databaseUrl === null || !URL.canParse(databaseUrl)) return [];
  const { hostname, port } = new URL(databaseUrl);
  return hostname === "" ? [] : [`${hostname}:${port === "" ? "5432" : port}`];
}

/** The mail server may trust this machine, so mail must go through us. Control reports an invalid setting. */
function mailServerOf({ smtpUrl }: Pick<Config, "smtpUrl">): readonly string[] {
  try {
    if (smtpUrl === null) return [];
    const { host, port } = parseSmtpUrl(smtpUrl);
    return [`${host}:${port}`];
  } catch {
    return [];
  }
}
