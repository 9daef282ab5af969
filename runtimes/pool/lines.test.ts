import { expect, test } from "vitest";
import { createLineReader } from "./lines.ts";

function linesOf(chunks: readonly (string | Buffer)[]): string[] {
  const lines: string[] = [];
  const reader = createLineReader((line) => lines.push(line));
  for (const chunk of chunks) reader.read(Buffer.from(chunk));
  reader.end();
  return lines;
}

test.each([1, 2, 3, 7, 1_000])("reassembles lines from pieces of %d bytes", (size) => {
  const bytes = Buffer.from("one\ngrüße\r\n\n  \nlast");
  const chunks = Array.from({ length: Math.ceil(bytes.length / size) }, (_, index) =>
    bytes.subarray(index * size, (index + 1) * size),
  );
  expect(linesOf(chunks).map((line) => line.replace(/\r$/, ""))).toEqual(["one", "grüße", "last"]);
});

test("empty input has no lines", () => {
  expect(linesOf([])).toEqual([]);
  expect(linesOf(["", "\n\n"])).toEqual([]);
});

test("invalid UTF-8 is replaced", () => {
  expect(linesOf([Buffer.from([0x61, 0xff, 0x0a, 0xc3])])).toEqual(["a\ufffd", "\ufffd"]);
});

test("a very long line is split", () => {
  const lines = linesOf(Array.from({ length: 100 }, () => "x".repeat(10_000)));
  expect(lines.join("")).toBe("x".repeat(1_000_000));
  expect(Math.max(...lines.map((line) => line.length))).toBeLessThan(80_000);
});
