import { expect, test } from "vitest";
import { shellWords } from "./shellWords.ts";

test.each([
  ["", []],
  ["  rm   -rf '/a b' ", ["rm", "-rf", "/a b"]],
  ["php x --title='it'\\''s' --a=\"b \\\"c\\n\"", ["php", "x", "--title=it's", '--a=b "c\\n']],
  ["echo '' \"\" ' spaces '", ["echo", "", "", " spaces "]],
  ["echo 'a\\\"b'", ["echo", 'a\\"b']],
  ["a\\ b 'new\nline'", ["a b", "new\nline"]],
  ["never 'closed", ["never", "closed"]],
])("splits %j", (command, words) => {
  expect(shellWords(command)).toEqual(words);
});
