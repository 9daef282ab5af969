import { expect, test } from "vitest";
import { TextKeeper } from "./keptText.ts";

function kept(limit: number, ...chunks: readonly (string | Buffer)[]) {
  const keeper = new TextKeeper(limit);
  for (const chunk of chunks) keeper.add(Buffer.from(chunk));
  return keeper.kept();
}

test("a text within the limit is kept as it came", () => {
  expect(kept(10, "01234", "56789")).toEqual({ text: "0123456789", bytes: 10, isTruncated: false });
  expect(kept(10)).toEqual({ text: "", bytes: 0, isTruncated: false });
});

test("of a longer one its beginning and its end are kept, however it came", () => {
  const whole = "beginning, and much in between, and the end";
  const wanted = { text: "begin\n[… 33 bytes are left out here …]\ne end", bytes: 43, isTruncated: true };
  expect(kept(10, whole)).toEqual(wanted);
  expect(kept(10, ...whole)).toEqual(wanted);
});

test("no character is cut in two", () => {
  expect(kept(6, "ääääää").text).toBe("ä\n[… 6 bytes are left out here …]\nä");
});

test("what is no UTF-8 does no harm", () => {
  expect(kept(10, Buffer.from([0x61, 0xff, 0x62])).text).toBe("a\ufffdb");
});
