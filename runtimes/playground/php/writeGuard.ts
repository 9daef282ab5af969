/**
 * Whether PHP may change its environment while it answers a request, and whether it tried. Whoever asked then knows that
 * the answer is not what PHP meant to say.
 */

export interface WriteGuard {
  /** From now on nothing, or everything, can be changed; what was refused before is forgotten. */
  protect(isReadOnly: boolean): void;
  /** Whether a change must be refused. One that must is remembered. */
  refuses(): boolean;
  /** Whether a change was refused since `protect`. */
  hasRefused(): boolean;
}

export function createWriteGuard(): WriteGuard {
  let isProtected = false;
  let refused = false;
  return {
    protect(isReadOnly) {
      isProtected = isReadOnly;
      refused = false;
    },
    refuses() {
      refused ||= isProtected;
      return isProtected;
    },
    hasRefused: () => refused,
  };
}
