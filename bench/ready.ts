/** What the machine is left alone for before it is measured. */
import { until } from "@sitewright/e2e/until.ts";
import { phpVersions } from "@sitewright/runtimes/playground/php/versions.ts";
import { edgeStatus } from "./edgeStatus.ts";

/** Waits until WordPress is compiled for every version of PHP on offer, as on a machine that had a few quiet minutes. */
export async function untilVersionsAreCompiled(adminSocket: string): Promise<void> {
  await until(
    async () => {
      const { compiledPhpVersions } = await edgeStatus(adminSocket);
      const missing = phpVersions.filter((version) => !compiledPhpVersions.includes(version));
      if (missing.length > 0) throw new Error(`WordPress is not compiled yet for PHP ${missing.join(", ")}`);
    },
    { deadlineSeconds: 240, intervalMilliseconds: 200 },
  );
}
