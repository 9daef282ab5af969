/** What the API tells operators about the machine and the other processes. */
import type { Examination, InstallationProbes } from "../app/operator/probes.ts";
import { findingsOf } from "../operator/doctor.ts";
import { dnsStatus } from "../operator/status.ts";
import { sitewrightVersion } from "../operator/version.ts";
import type { Config } from "../settings/config.ts";

/** An examination takes seconds if the package source does not answer. Milliseconds. */
const examineAgainAfter = 60_000;

export function makeInstallationProbes(config: Config): InstallationProbes {
  let last: { readonly at: number; readonly result: Promise<Examination> } | null = null;
  const examine = async (): Promise<Examination> => ({ at: new Date(), findings: await findingsOf(config) });
  return {
    version: sitewrightVersion(),
    dnsAnswers: async () => (await dnsStatus(config)) !== null,
    examine: () => {
      const now = performance.now();
      if (last === null || now - last.at > examineAgainAfter) {
        const result = examine();
        last = { at: now, result };
        // The next reader tries again.
        result.catch(() => {
          last = null;
        });
      }
      return last.result;
    },
  };
}
