/** The head of a CGI response: lines of headers, one of which may be the status, then an empty line. */
import { ProtocolError } from "./records.ts";

export interface ResponseHead {
  readonly status: number;
  /** Pairs in order, with lower-case names, and values with one character per byte. */
  readonly headers: readonly (readonly [name: string, value: string])[];
}

/** PHP itself limits neither the number nor the length of headers. */
const maxHeadBytes = 256 << 10;

interface HeadReader {
  /**
   * Takes bytes of the response. Returns null while the head is incomplete, then the head with the bytes after it. Throws
   * `ProtocolError`.
   */
  read(chunk: Buffer): { readonly head: ResponseHead; readonly rest: Buffer } | null;
}

const emptyLine = /\r?\n\r?\n/;
/** How much of the end of the previous bytes may belong to an empty line. */
const overlap = 3;

export function createHeadReader(): HeadReader {
  const pieces: Buffer[] = [];
  let bytes = 0;
  let tail = "";
  return {
    read: (chunk) => {
      if (chunk.length === 0) return null;
      const text = tail + chunk.toString("latin1");
      const found = emptyLine.exec(text);
      pieces.push(Buffer.from(chunk));
      bytes += chunk.length;
      const end = found === null ? bytes : bytes - text.length + found.index;
      if (end > maxHeadBytes || (found === null && bytes >= maxHeadBytes)) {
        throw new ProtocolError("The headers of PHP's response are too long.");
      }
      tail = text.slice(-overlap);
      if (found === null) return null;
      const all = Buffer.concat(pieces);
      return { head: parse(all.toString("latin1", 0, end)), rest: all.subarray(end + found[0].length) };
    },
  };
}

function parse(text: string): ResponseHead {
  let status = 200;
  const headers: (readonly [string, string])[] = [];
  for (const line of text.split(/\r?\n/)) {
    const [, name, value = ""] = /^([^:\s]+):[ \t]*(.*)$/.exec(line) ?? [];
    if (name === undefined) throw new ProtocolError("The headers of PHP's response are damaged.");
    if (name.toLowerCase() === "status") status = statusIn(value);
    else headers.push([name.toLowerCase(), value]);
  }
  return { status, headers };
}

function statusIn(value: string): number {
  const status = Number(/^\d{3}/.exec(value)?.[0]);
  if (!(status >= 200 && status < 600)) throw new ProtocolError("The status of PHP's response is damaged.");
  return status;
}
