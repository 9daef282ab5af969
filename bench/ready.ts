/** Waits until background work is done before measuring. */
import { until } from "@sitewright/e2e/until.ts";
import { phpVersions } from "@sitewright/runtimes/playground/php/versions.ts";
import { edgeStatus } from "./edgeStatus.ts";

/** Waits until WordPress is compiled for every PHP version, as on a machine that was idle for a few minutes. */
export async function untilVersionsAreCompiled(adminSocket: string): Promise<void> {
  await until(
    async () => {
      const { compiledPhpVersions } = (await edgeStatus(adminSocket)).machinery;
      const missing = phpVersions.filter((version) => !compiledPhpVersions.includes(version));
      if (missing.length > 0) throw new Error(`WordPress is not compiled yet for PHP ${missing.join(", ")}`);
    },
    { deadlineSeconds: 240, intervalMilliseconds: 200 },
  );
}
