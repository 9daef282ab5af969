/** `version`: the versions of Sitewright and Node, and the platform, for bug reports. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import * as v from "valibot";
import type { Run } from "./command.ts";

const packageJson = v.pipe(v.string(), v.parseJson(), v.object({ version: v.string() }));

/** Returns the version of Sitewright. */
export function sitewrightVersion(): string {
  const file = join(import.meta.dirname, "..", "..", "package.json");
  return v.parse(packageJson, readFileSync(file, "utf8")).version;
}

export const version: Run = async () => {
  return `Sitewright ${sitewrightVersion()} on Node ${process.versions.node}, ${process.platform} ${process.arch}`;
};
