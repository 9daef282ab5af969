/** Lines out of bytes that come in pieces. */

export interface LineReader {
  read(chunk: Uint8Array): void;
  /** What came after the last end of a line is a line, too. */
  end(): void;
}

/** A longer line is given in parts. */
const longestLine = 65_536;

/** What is no UTF-8 is replaced; empty lines are left out. */
export function createLineReader(onLine: (line: string) => void): LineReader {
  const decoder = new TextDecoder();
  let rest = "";

  function give(lines: readonly string[]): void {
    for (const line of lines) if (line.trim() !== "") onLine(line);
  }

  return {
    read(chunk) {
      const lines = (rest + decoder.decode(chunk, { stream: true })).split(/\r?\n/);
      rest = lines.pop() ?? "";
      give(lines);
      if (rest.length < longestLine) return;
      give([rest]);
      rest = "";
    },
    end() {
      give([rest + decoder.decode()]);
      rest = "";
    },
  };
}
