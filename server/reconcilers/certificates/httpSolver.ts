/** http-01: the edge answers requests below `/.well-known/acme-challenge/`. */
import type { Solver } from "../../certificates/acme/solver.ts";
import type { Publisher } from "../../publishing/publishRoutes.ts";
import type { Database } from "../../store/database.ts";
import { addChallenge } from "../../store/domains/acmeChallenges.ts";

interface HttpSolverOptions {
  readonly database: Database;
  readonly publisher: Pick<Publisher, "publish">;
}

export function makeHttpSolver({ database, publisher }: HttpSolverOptions): Solver {
  return {
    type: "http-01",
    canSolve: () => true,
    publish: async ({ domainId, host, token, content }) => {
      await addChallenge(database, domainId, { host, token, content });
      // Resolves only after the edge has acknowledged the challenge.
      await publisher.publish();
    },
  };
}
