/** Network access of sites' PHP processes, in the edge and in WP-CLI. */
import type { Config } from "./settings/config.ts";
import { parseSmtpUrl } from "./settings/smtpUrl.ts";

/** PHP processes run as other users, who can't enter `config.run`. */
export function phpFolder(config: Pick<Config, "run">): string {
  return `${config.run}-php`;
}

export function phpNetwork(config: Pick<Config, "run" | "siteSuffix" | "databaseUrl" | "smtpUrl" | "wporgUrl">) {
  const forbidden = [...databaseOf(config), ...mailServerOf(config)];
  return { run: phpFolder(config), siteSuffix: config.siteSuffix, forbidden, packageSource: config.wporgUrl };
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
