/** dns-01: the installation's own DNS answers at the name, or where its record leads to. The only way for wildcards. */
import { createHash } from "node:crypto";
import type { Solver } from "../../certificates/acme/solver.ts";
import type { DnsChallenges } from "./dnsChallenges.ts";

export function makeDnsSolver(challenges: Pick<DnsChallenges, "publish">): Solver {
  return {
    type: "dns-01",
    canSolve: ({ challengeName }) => challengeName !== null,
    publish: async ({ challengeName, content }) => {
      if (challengeName === null) throw new Error("Our DNS has no place for this name");
      // RFC 8555, section 8.4. It goes by itself within a day.
      await challenges.publish(challengeName, createHash("sha256").update(content).digest("base64url"));
    },
  };
}
