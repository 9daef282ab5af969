/**
 * Which halves of its environment PHP may not change while it answers a request, and whether it tried. Whoever asked
 * then knows that the answer is not what PHP meant to say.
 */
import type { WritablePart } from "../../runtime.ts";

export interface WriteGuard {
  /** From now on these can't be changed; what was refused before is forgotten. */
  protect(parts: readonly WritablePart[]): void;
  /** Whether a change to the part must be refused. One that must is remembered. */
  refuses(part: WritablePart): boolean;
  /** Whether a change was refused since `protect`. */
  hasRefused(): boolean;
}

export function createWriteGuard(): WriteGuard {
  let readOnly: readonly WritablePart[] = [];
  let refused = false;
  return {
    protect(parts) {
      readOnly = parts;
      refused = false;
    },
    refuses(part) {
      const mustRefuse = readOnly.includes(part);
      refused ||= mustRefuse;
      return mustRefuse;
    },
    hasRefused: () => refused,
  };
}
