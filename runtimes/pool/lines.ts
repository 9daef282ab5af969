/** Splits a stream of bytes into lines. */

export interface LineReader {
  read(chunk: Uint8Array): void;
  /** Ends the input. Text after the last line break is a line too. */
  end(): void;
}

/** Longer lines are split. */
const maxLineLength = 65_536;

/** Creates a reader. Invalid UTF-8 is replaced; empty lines are left out. */
export function createLineReader(onLine: (line: string) => void): LineReader {
  const decoder = new TextDecoder();
  let rest = "";

  function emit(lines: readonly string[]): void {
    for (const line of lines) if (line.trim() !== "") onLine(line);
  }

  return {
    read(chunk) {
      const lines = (rest + decoder.decode(chunk, { stream: true })).split(/\r?\n/);
      rest = lines.pop() ?? "";
      emit(lines);
      if (rest.length < maxLineLength) return;
      emit([rest]);
      rest = "";
    },
    end() {
      emit([rest + decoder.decode()]);
      rest = "";
    },
  };
}
