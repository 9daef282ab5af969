/** What PHP logs during one request, as php-fpm sends it. */

export interface PhpLog {
  /** Takes a piece of php-fpm's error stream. Returns the log's text in it, with one line for each message. */
  take(piece: Uint8Array): Buffer;
  /** Returns a line of the platform's own, as text of the log. */
  add(line: string): Buffer;
  /** Call it at the end of the request. Returns the rest of the text. */
  end(): Buffer;
  /** The beginning, for trials. */
  excerpt(): string;
}

/** The beginning that is returned with the end of the response. */
const excerptBytes = 4096;
/** Further lines are only counted. */
const maxBytes = 1 << 18;
const lineEnd = 10;
/** Longer lines are split. */
const maxLineBytes = 1 << 16;

/** php-fpm marks each message, and joins several. */
const marks = /^PHP message: |; PHP message: /gm;

/** Returns the log with one line for each message. Bytes that are no UTF-8 are kept. */
function withoutMarks(bytes: Buffer): Buffer {
  const text = bytes.toString("latin1");
  return Buffer.from(
    text.replaceAll(marks, (mark) => (mark.startsWith(";") ? "\n" : "")),
    "latin1",
  );
}

export function createPhpLog(): PhpLog {
  let excerpt = Buffer.alloc(0);
  let rest = Buffer.alloc(0);
  let sent = 0;
  let linesOmitted = 0;

  function keep(text: Buffer): Buffer {
    const missing = excerptBytes - excerpt.length;
    if (missing > 0) excerpt = Buffer.concat([excerpt, text.subarray(0, missing)]);
    const piece = text.subarray(0, Math.max(0, maxBytes - sent));
    sent += piece.length;
    for (let at = piece.length; at < text.length; at += 1) if (text[at] === lineEnd) linesOmitted += 1;
    return piece;
  }

  return {
    take(piece) {
      const all = Buffer.concat([rest, piece]);
      const lines = all.lastIndexOf(lineEnd) + 1;
      const complete = all.length - lines > maxLineBytes ? all.length : lines;
      rest = all.subarray(complete);
      return keep(withoutMarks(all.subarray(0, complete)));
    },
    add: (line) => keep(Buffer.from(`${line}\n`)),
    end() {
      const last = rest.length === 0 ? rest : keep(Buffer.concat([withoutMarks(rest), Buffer.from("\n")]));
      rest = Buffer.alloc(0);
      return linesOmitted === 0 ? last : Buffer.concat([last, Buffer.from(`\n… and ${linesOmitted} more lines\n`)]);
    },
    // Without a partial character at the end.
    excerpt: () => new TextDecoder().decode(excerpt, { stream: true }),
  };
}
