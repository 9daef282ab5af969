/** Who may have a file, by the rules in the `.htaccess` files of its folders. */
import type { NamePattern } from "./namePattern.ts";

/** Less access is a smaller number. Conditional: only for some addresses or users, which the edge doesn't check. */
export const access = { closed: 0, conditional: 1, open: 2 } as const;
export type Access = (typeof access)[keyof typeof access];

/** The rules of a folder, or of some names in it. */
export interface AccessBlock {
  /** Null for all names. */
  readonly names: NamePattern | null;
  /** By `Order`, `Allow` and `Deny`. Null if there are none: those of the block before apply. */
  readonly byHosts: Access | null;
  /** By `Require`. */
  readonly byRequirements: Access | null;
  /** Whether one of the two is enough (`Satisfy Any`). */
  readonly isEitherEnough: boolean | null;
}

/** Blocks for names come after those for whole folders, and inner folders after outer ones; the last word counts. */
export function accessTo(name: string, blocks: readonly AccessBlock[]): Access {
  const forFolders = blocks.filter(({ names }) => names === null);
  const forName = blocks.filter(({ names }) => names?.matches(name) === true);
  let [byHosts, byRequirements, isEitherEnough]: [Access | null, Access | null, boolean] = [null, null, false];
  for (const block of [...forFolders, ...forName]) {
    byHosts = block.byHosts ?? byHosts;
    byRequirements = block.byRequirements ?? byRequirements;
    isEitherEnough = block.isEitherEnough ?? isEitherEnough;
  }
  const given = [byHosts, byRequirements].filter((each) => each !== null);
  return isEitherEnough ? most(given) : least(given);
}

/** The most access of these; open if there are none. */
export function most(all: readonly Access[]): Access {
  return all.length === 0 ? access.open : all.reduce((one, other) => (one > other ? one : other));
}

/** The least access of these; open if there are none. */
export function least(all: readonly Access[]): Access {
  return all.reduce<Access>((one, other) => (one < other ? one : other), access.open);
}
