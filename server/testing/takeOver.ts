/** The common state after operations that build a release and switch to it. */
import type { TakeOver } from "../operations/steps/takeOver.ts";
import { visit } from "./edge.ts";
import type { World } from "./world.ts";

/**
 * State after the operation, whether it succeeded or failed: not frozen, nothing staged or unfinished, and visitors get
 * pages.
 */
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
