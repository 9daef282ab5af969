/** Messages and a progress bar in the terminal. */
import type { Progress } from "@sitewright/runtimes/runtime.ts";

export interface Terminal {
  /** To standard output. */
  say(text: string): void;
  /** To standard error. */
  warn(text: string): void;
  /** Redraws one line with a bar on a terminal. Otherwise prints a line when a phase begins. */
  readonly progress: Progress;
}

interface Outputs {
  readonly out: NodeJS.WritableStream & { readonly isTTY?: boolean; readonly columns?: number };
  readonly errors: NodeJS.WritableStream;
}

const barWidth = 24;
const redrawMs = 80;

export function makeTerminal({ out, errors }: Outputs): Terminal {
  let phase = "";
  let line = "";
  let drawnAt = 0;
  const clear = () => {
    if (line !== "") {
      out.write("\r\x1b[K");
      line = "";
    }
  };
  return {
    say(text) {
      clear();
      out.write(`${text}\n`);
    },
    warn(text) {
      clear();
      errors.write(`${text}\n`);
    },
    progress(update) {
      const isNew = update.phase !== phase;
      phase = update.phase;
      if (out.isTTY !== true) {
        if (isNew) {
          out.write(`  ${phase} …\n`);
        }
        return;
      }
      const isLast = update.total !== null && update.done >= update.total;
      if (isNew || isLast || Date.now() - drawnAt >= redrawMs) {
        drawnAt = Date.now();
        clear();
        line = progressLine(update, out.columns ?? 80);
        out.write(line);
      }
    },
  };
}

/** `  Unpacking WordPress [########----------------]  33 %`, truncated to the width of the terminal. */
export function progressLine(update: Parameters<Progress>[0], columns: number): string {
  const share = update.total === null || update.total <= 0 ? null : Math.min(1, update.done / update.total);
  const bar = share === null ? "" : ` [${"#".repeat(Math.round(share * barWidth)).padEnd(barWidth, "-")}]`;
  const percentage = share === null ? " …" : ` ${String(Math.round(share * 100)).padStart(3)} %`;
  return `  ${update.phase}${bar}${percentage}`.slice(0, Math.max(1, columns - 1));
}
