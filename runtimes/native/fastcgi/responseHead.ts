/** The head of a CGI response: lines of headers, one of which may be the status, then an empty line. */
import { ProtocolError } from "./records.ts";

export interface ResponseHead {
  readonly status: number;
  /** Pairs in order, with the names as PHP sent them, and values with one character per byte. */
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

export function createHeadReader(): HeadReader {
  let bytes = Buffer.alloc(0);
  return {
    read: (chunk) => {
      bytes = Buffer.concat([bytes, chunk]);
      const text = bytes.subarray(0, maxHeadBytes).toString("latin1");
      const end = emptyLine.exec(text);
      if (end !== null) {
        return { head: parse(text.slice(0, end.index)), rest: bytes.subarray(end.index + end[0].length) };
      }
      if (bytes.length >= maxHeadBytes) throw new ProtocolError("The headers of PHP's response are too long.");
      return null;
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
    else headers.push([name, value]);
  }
  return { status, headers };
}

function statusIn(value: string): number {
  const status = Number(/^\d{3}/.exec(value)?.[0]);
  if (!(status >= 100)) throw new ProtocolError("The status of PHP's response is damaged.");
  return status;
}
