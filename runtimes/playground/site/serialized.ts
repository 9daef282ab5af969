/** PHP's serialised values: strings in them carry their length in bytes, which must follow when a text changes. */

const stringHead = /s:(\d+):"/y;

/** Applies `change` to every string inside a serialised value, or to the whole text where it is none. */
export function changeText(text: string, change: (part: string) => string): string {
  if (!/^(?:[aOsC]:\d+:)/.test(text)) return change(text);
  const bytes = Buffer.from(text, "utf8");
  const source = bytes.toString("latin1");
  let result = "";
  let position = 0;
  while (position < source.length) {
    stringHead.lastIndex = position;
    const head = stringHead.exec(source);
    if (head === null) {
      result += source[position];
      position += 1;
      continue;
    }
    const start = position + head[0].length;
    const end = start + Number(head[1]);
    const part = Buffer.from(change(bytes.subarray(start, end).toString("utf8")), "utf8");
    result += `s:${part.length}:"${part.toString("latin1")}"`;
    position = end + 1;
  }
  return Buffer.from(result, "latin1").toString("utf8");
}
