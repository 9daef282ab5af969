/** What an operation that builds a release and switches to it has left, beside what it was about. */
import type { TakeOver } from "../operations/steps/takeOver.ts";
import { visit } from "./edge.ts";
import type { World } from "./world.ts";

/** Whatever became of it: nothing is held, staged or half made, and visitors are answered. `backups`: that it made. */
export const settled = (backups: number) => ({ isFrozen: false, backups, unfinished: 0, staged: false, answers: 200 });

export async function takeOverState({ own, services, facts }: World, { target, token, address }: TakeOver) {
  const row = await own.database
    .selectFrom("environments")
    .select("is_frozen")
    .where("id", "=", target.id)
    .executeTakeFirst();
  const backups = await own.database
    .selectFrom("backups")
    .select("manifest")
    .where("environment_id", "=", target.id)
    .execute();
  return {
    isFrozen: row?.is_frozen,
    backups: backups.filter(({ manifest }) => manifest !== null).length,
    unfinished: backups.filter(({ manifest }) => manifest === null).length,
    staged: (await services.runtime.staged(target, token)) !== null,
    answers: (await visit(facts.edgePort, address)).status,
  };
}
