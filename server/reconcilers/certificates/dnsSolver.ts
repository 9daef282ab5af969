/** dns-01: the installation's DNS serves the name, or the target of its CNAME. The only challenge type for wildcards. */
import { createHash } from "node:crypto";
import type { Solver } from "../../certificates/acme/solver.ts";
import type { DnsChallenges } from "./dnsChallenges.ts";

export function makeDnsSolver(challenges: Pick<DnsChallenges, "publish">): Solver {
  return {
    type: "dns-01",
    canSolve: ({ challengeName }) => challengeName !== null,
    publish: async ({ challengeName, content }) => {
      if (challengeName === null) throw new Error("The installation's DNS can't serve a challenge for this name");
      // RFC 8555, section 8.4. The record expires within a day.
      await challenges.publish(challengeName, createHash("sha256").update(content).digest("base64url"));
    },
  };
}
