/** Log lines about the current request that PHP itself does not write. */

interface ExtraLogLines {
  /** Starts a request: from now on `add` receives the lines. */
  begin(add: (line: string) => void): void;
  add(line: string): void;
}

export function createExtraLogLines(): ExtraLogLines {
  let current: ((line: string) => void) | null = null;
  return {
    begin: (add) => {
      current = add;
    },
    add: (line) => current?.(line),
  };
}
