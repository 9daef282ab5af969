/** Which parts of the network sites' PHP processes may reach, in the edge and in WP-CLI. */
import type { Config } from "./settings/config.ts";
import { parseSmtpUrl } from "./settings/smtpUrl.ts";

/** PHP's processes are users of their own, and `config.run` is closed to everybody but its owner. */
export function phpFolder(config: Pick<Config, "run">): string {
  return `${config.run}-php`;
}

export function phpNetwork(config: Pick<Config, "run" | "siteSuffix" | "databaseUrl" | "smtpUrl" | "wporgUrl">) {
  const forbidden = [...databaseOf(config), ...mailServerOf(config)];
  return { run: phpFolder(config), siteSuffix: config.siteSuffix, forbidden, packageSource: config.wporgUrl };
}

/** A database on another machine is none of PHP's business; one on this machine it can't reach anyway. */
function databaseOf({ databaseUrl }: Pick<Config, "databaseUrl">): readonly string[] {
  if (databaseUrl === null || !URL.canParse(databaseUrl)) return [];
  const { hostname, port } = new URL(databaseUrl);
  return hostname === "" ? [] : [`${hostname}:${port === "" ? "5432" : port}`];
}

/** It may trust this machine, so that what it is given must come through us. A wrong setting is told by control. */
function mailServerOf({ smtpUrl }: Pick<Config, "smtpUrl">): readonly string[] {
  try {
    if (smtpUrl === null) return [];
    const { host, port } = parseSmtpUrl(smtpUrl);
    return [`${host}:${port}`];
  } catch {
    return [];
  }
}
