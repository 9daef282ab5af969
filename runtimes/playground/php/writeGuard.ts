/**
 * Write protection of an environment during a request. Records whether PHP attempted a change: its response is then not
 * what it would have been.
 */

export interface WriteGuard {
  /** Turns protection on or off, and forgets earlier refusals. */
  protect(isReadOnly: boolean): void;
  /** Returns whether a change must be refused, and records it if so. */
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
