import { describe, expect, test } from "vitest";
import { serialize } from "../../playground/testing/serialize.ts";
import { bytesOf, marksOf, textReplacer } from "./replaceText.ts";

function replaced(text: string, search = "old", replace = "newer") {
  const { text: bytes, ...counts } = textReplacer({ search, replace })(bytesOf(text));
  return { text: Buffer.from(bytes, "latin1").toString(), ...counts };
}

describe("replaces a text", () => {
  test("everywhere, literally and case-sensitively", () => {
    expect(replaced("old, Old and old.old")).toEqual({ text: "newer, Old and newer.newer", replaced: 3, kept: 0 });
    expect(replaced("a.c abc", "a.c", "$&$1")).toMatchObject({ text: "$&$1 abc", replaced: 1 });
    expect(replaced("aaaa", "aa", "a")).toMatchObject({ text: "aa", replaced: 2 });
    expect(replaced("old", "old", "")).toMatchObject({ text: "" });
  });

  test("with multi-byte characters", () => {
    expect(replaced('s:5:"Käse";', "Käse", "Öl")).toEqual({ text: 's:3:"Öl";', replaced: 1, kept: 0 });
  });

  test("in nested serialised values, updating their lengths", () => {
    const inner = serialize({ a: "old", b: ["very old"] });
    const wanted = serialize({ a: "newer", b: ["very newer"] });
    expect(replaced(serialize({ inner, deep: serialize([inner]) }))).toEqual({
      text: serialize({ inner: wanted, deep: serialize([wanted]) }),
      replaced: 4,
      kept: 0,
    });
  });

  test("in JSON in serialised values in JSON", () => {
    const json = (word: string) => JSON.stringify({ a: word, list: [`in ${word}`] });
    const deep = (word: string) => JSON.stringify({ data: serialize({ json: json(word) }) });
    expect(replaced(deep("old"))).toEqual({ text: deep("newer"), replaced: 2, kept: 0 });
  });

  test("in JSON in any notation, and keeps the notation", () => {
    const escaped = String.raw`{"url":"http:\/\/old\/x","name":"K\u00e4se","kept":"\u0041"}`;
    expect(replaced(escaped, "http://old", "http://new/er").text).toBe(
      String.raw`{"url":"http:\/\/new\/er\/x","name":"K\u00e4se","kept":"\u0041"}`,
    );
    expect(replaced(escaped, "Käse", "Öl").text).toContain(String.raw`"name":"\u00d6l"`);
    expect(replaced(`{"name":"Käse"}`, "Käse", "Öl").text).toBe(`{"name":"Öl"}`);
  });

  test("with characters that JSON must escape", () => {
    const text = replaced(`{"a":"old"}`, "old", `"\\\n`).text;
    expect(JSON.parse(text)).toEqual({ a: `"\\\n` });
  });

  test("in block attributes, without ending their comment", () => {
    const block = `<!-- wp:image {"alt":"old"} --><p>old</p><!-- /wp:image -->`;
    expect(replaced(block, "old", `--> "x\\`).text).toBe(
      String.raw`<!-- wp:image {"alt":"\u002d\u002d\u003e \u0022x\u005c"} --><p>--> "x\</p><!-- /wp:image -->`,
    );
  });
});

describe("keeps and counts matches in", () => {
  test("class names, also in quoted values", () => {
    const object = 'O:3:"old":1:{s:1:"a";s:3:"old";}';
    expect(replaced(object)).toEqual({ text: 'O:3:"old":1:{s:1:"a";s:5:"newer";}', replaced: 1, kept: 1 });
    expect(replaced(`see ${object}`)).toMatchObject({ replaced: 1, kept: 1 });
  });

  test("numbers of serialised values", () => {
    expect(replaced("a:1:{i:0;i:17;}", "17", "18")).toEqual({ text: "a:1:{i:0;i:17;}", replaced: 0, kept: 1 });
    expect(replaced('a:1:{i:0;s:2:"17";}', "17", "180").text).toBe('a:1:{i:0;s:3:"180";}');
  });

  test("a damaged value, but not in the text around it", () => {
    const damaged = 'a:2:{i:0;s:3:"old";i:1;s:9:"old";}';
    expect(replaced(damaged)).toEqual({ text: damaged, replaced: 0, kept: 2 });
    expect(replaced(serialize({ damaged, whole: "old" }))).toEqual({
      text: serialize({ damaged, whole: "newer" }),
      replaced: 1,
      kept: 2,
    });
  });

  test("JSON across the boundary of a string", () => {
    expect(replaced('{"a":"b"}', '":"', "x")).toEqual({ text: '{"a":"b"}', replaced: 0, kept: 1 });
  });

  test("invalid UTF-8 is preserved", () => {
    const { text, replaced: count } = textReplacer({ search: "old", replace: "new" })("\xff old \xc3");
    expect([text, count]).toEqual(["\xff new \xc3", 1]);
  });
});

test.each([
  ["http://old/x", String.raw`{"a":"http:\/\/old\/x"}`],
  ["Käse", String.raw`{"a":"K\u00e4se"}`],
  ["Käse", String.raw`{"a":"{\"b\":\"K\\u00e4se\"}"}`],
  ['say "old"', String.raw`{"a":"say \"old\""}`],
  ["a & b", String.raw`<!-- wp:x {"a":"a \u0026 b"} -->`],
])("finds rows with %s in another notation", (search, text) => {
  expect(replaced(text, search, "new")).toMatchObject({ replaced: 1 });
  expect(marksOf({ search, replace: "" }).some((mark) => text.includes(mark))).toBe(true);
});
