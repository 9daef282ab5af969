/** ACME challenges (`http-01`) that the edge answers to prove control of a name. */
import type { Database } from "../database.ts";

interface Challenge {
  readonly host: string;
  readonly token: string;
  readonly content: string;
}

/** Lists all current challenges. */
export async function listChallenges(database: Database): Promise<readonly Challenge[]> {
  return database
    .selectFrom("acme_challenges")
    .select(["host", "token", "content"])
    .orderBy("host")
    .orderBy("token")
    .execute();
}

/** Adds or replaces a challenge. */
export async function addChallenge(database: Database, domainId: string, challenge: Challenge): Promise<void> {
  await database
    .insertInto("acme_challenges")
    .values({ domain_id: domainId, ...challenge })
    .onConflict((conflict) =>
      conflict.columns(["host", "token"]).doUpdateSet({ domain_id: domainId, content: challenge.content }),
    )
    .execute();
}
