/** Changes the strings in JSON and keeps every other byte. */

/** How changed strings are written: like the rest of the document, or like WordPress writes block attributes. */
export type JsonStyle = "document" | "block";

const token = /"(?:[^"\\]|\\.)*"/gs;

function decode(bytes: string): string | null {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(Buffer.from(bytes, "latin1"));
  } catch {
    return null;
  }
}

function parse(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return undefined;
  }
}

/** Returns a function that writes a string in the document's style. */
function writerFor(json: string, style: JsonStyle): (text: string) => string {
  if (style === "block") return (text) => blockEscaped(JSON.stringify(text));
  const hasSlashes = json.includes("\\/");
  const isAscii = /^\p{ASCII}*$/u.test(json);
  return (text) => {
    const written = JSON.stringify(text);
    const encoded = isAscii ? asciiOf(written) : written;
    return hasSlashes ? encoded.replaceAll("/", "\\/") : encoded;
  };
}

/** Escapes all characters of JSON that are not printable ASCII. */
export function asciiOf(json: string): string {
  return json.replace(/[^\x20-\x7e]/g, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

/** Escapes block attributes like WordPress, so that they don't end the block's comment. The enclosing quotes stay. */
export function blockEscaped(json: string): string {
  return json
    .replace(/\\(["\\])/g, (_, escaped: string) => (escaped === '"' ? "\\u0022" : "\\u005c"))
    .replaceAll("--", "\\u002d\\u002d")
    .replaceAll("<", "\\u003c")
    .replaceAll(">", "\\u003e")
    .replaceAll("&", "\\u0026");
}

/**
 * Changes the strings of a JSON document. Null if the text is not a JSON object or array. `text`, and the texts that
 * `change` gets and returns, have one character per byte. Property names are changed like values.
 */
export function changeJson(text: string, change: (part: string) => string, style: JsonStyle): string | null {
  const json = decode(text);
  const parsed = json === null ? undefined : parse(json);
  if (json === null || typeof parsed !== "object" || parsed === null) return null;
  const write = writerFor(json, style);
  const changed = json.replace(token, (found) => {
    const part = String(JSON.parse(found));
    // A lone surrogate can't be expressed in bytes.
    if (!part.isWellFormed()) return found;
    const bytes = Buffer.from(part, "utf8").toString("latin1");
    const after = change(bytes);
    const written = after === bytes ? null : decode(after);
    return written === null ? found : write(written);
  });
  return Buffer.from(changed, "utf8").toString("latin1");
}
