import { expect, test } from "vitest";
import { TextTruncator } from "./truncatedText.ts";

function truncated(limit: number, ...chunks: readonly (string | Buffer)[]) {
  const truncator = new TextTruncator(limit);
  for (const chunk of chunks) truncator.add(Buffer.from(chunk));
  return truncator.result();
}

test("text within the limit is kept unchanged", () => {
  expect(truncated(10, "01234", "56789")).toEqual({ text: "0123456789", bytes: 10, isTruncated: false });
  expect(truncated(10)).toEqual({ text: "", bytes: 0, isTruncated: false });
});

test("of longer text the beginning and the end are kept", () => {
  const text = "beginning, and much in between, and the end";
  const wanted = { text: "begin\n[… 33 bytes are left out here …]\ne end", bytes: 43, isTruncated: true };
  expect(truncated(10, text)).toEqual(wanted);
  expect(truncated(10, ...text)).toEqual(wanted);
});

test("characters are not split", () => {
  expect(truncated(6, "ääääää").text).toBe("ä\n[… 6 bytes are left out here …]\nä");
});

test("invalid UTF-8 is replaced", () => {
  expect(truncated(10, Buffer.from([0x61, 0xff, 0x62])).text).toBe("a\ufffdb");
});
