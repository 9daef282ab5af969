/** The PHP versions that the runtime offers. */
import type { Context } from "../context.ts";

export function list({ capabilities, settings }: Context) {
  return capabilities.phpVersions.map((version) => ({
    php_version: version,
    php_engine_version: `php${version}`,
    is_default: version === capabilities.defaultPhpVersion,
    has_ended: settings.endedPhpVersions.includes(version),
  }));
}
