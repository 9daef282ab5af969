/** Changes the texts in JSON, and leaves every other byte of it as it is written. */

/** How a text that changes is written: as its document does otherwise, or as WordPress writes the attributes of a block. */
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

/** A text as JSON, the way that the rest of the document is written. */
function writerFor(json: string, style: JsonStyle): (text: string) => string {
  if (style === "block") return (text) => blockEscaped(JSON.stringify(text));
  const hasSlashes = json.includes("\\/");
  const isAscii = /^\p{ASCII}*$/u.test(json);
  return (text) => {
    const written = JSON.stringify(text);
    const letters = isAscii ? asciiOf(written) : written;
    return hasSlashes ? letters.replaceAll("/", "\\/") : letters;
  };
}

export function asciiOf(json: string): string {
  return json.replace(/[^\x20-\x7e]/g, (letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

/** What WordPress does to the attributes of a block, so that they don't end its comment. Quotes around it all stay. */
export function blockEscaped(json: string): string {
  return json
    .replace(/\\(["\\])/g, (_, escaped: string) => (escaped === '"' ? "\\u0022" : "\\u005c"))
    .replaceAll("--", "\\u002d\\u002d")
    .replaceAll("<", "\\u003c")
    .replaceAll(">", "\\u003e")
    .replaceAll("&", "\\u0026");
}

/**
 * Null if it is no JSON that has parts. `text`, and what `change` is given and returns, has one character for each byte;
 * names of properties are changed like values.
 */
export function changeJson(text: string, change: (part: string) => string, style: JsonStyle): string | null {
  const json = decode(text);
  const parsed = json === null ? undefined : parse(json);
  if (json === null || typeof parsed !== "object" || parsed === null) return null;
  const write = writerFor(json, style);
  const changed = json.replace(token, (found) => {
    const part = String(JSON.parse(found));
    // Half of a character can't be told in bytes.
    if (!part.isWellFormed()) return found;
    const bytes = Buffer.from(part, "utf8").toString("latin1");
    const after = change(bytes);
    const written = after === bytes ? null : decode(after);
    return written === null ? found : write(written);
  });
  return Buffer.from(changed, "utf8").toString("latin1");
}
