/** What is to be said in the log of the request under way although PHP itself does not say it. */

export interface ExtraLogLines {
  /** From now on lines are this request's. */
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
