/** The PHP versions that a region offers. */
import type { Context } from "../context.ts";
import { requireRegion } from "./regions.ts";

/** `region` is the id of a region; absent: the default one. Throws `Refused` if there is no such region. */
export function list(context: Context, region?: string) {
  const { runtime } = region === undefined ? context.regions[0] : requireRegion(context, region);
  const { phpVersions, defaultPhpVersion } = context.capabilitiesOf(runtime);
  return phpVersions.map((version) => ({
    php_version: version,
    php_engine_version: `php${version}`,
    is_default: version === defaultPhpVersion,
    has_ended: context.settings.endedPhpVersions.includes(version),
  }));
}
