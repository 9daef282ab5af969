import { describe, expect, test } from "vitest";
import { PhpObject, phpJson, serialize, someValue } from "../../playground/testing/serialize.ts";
import { changeBytes, changeText } from "./serialized.ts";

const change = (text: string) => text.replaceAll("old", "nëw 🦄");

describe("serialised values get correct lengths", () => {
  test.each([
    ["plain old text", "plain nëw 🦄 text"],
    ['a:1:{i:0;s:3:"old";}', 'a:1:{i:0;s:9:"nëw 🦄";}'],
    ['a:2:{s:3:"old";i:1;s:6:"s:3:\\"";b:1;}', 'a:2:{s:9:"nëw 🦄";i:1;s:6:"s:3:\\"";b:1;}'],
    ['s:6:"älold";', 's:12:"älnëw 🦄";'],
    ["a:0:{}", "a:0:{}"],
    [' a:1:{i:0;s:3:"old";}\n', ' a:1:{i:0;s:9:"nëw 🦄";}\n'],
    ['s:03:"new";', 's:03:"new";'],
  ])("%s", (before, after) => {
    expect(changeText(before, change)).toBe(after);
  });

  test.each<[string, (text: string) => string]>([
    ["in an array, as key and value", (text) => serialize({ [text]: [text, 1, null, true, 0.5] })],
    ["next to multi-byte text", (text) => serialize(["日本語 🦄", text, "ü"])],
    ["in a string of another value", (text) => serialize([serialize([serialize({ a: text })]), text])],
    ["in an object's private properties", (text) => serialize(new PhpObject("A", { "\0A\0b": text, "\0*\0c": text }))],
    ["next to quotes that look like an end", (text) => serialize(['";', `";s:99:"${text}";`, '"'])],
    ["in JSON in a string", (text) => serialize([phpJson({ a: text }), "x"])],
    ["in a string in JSON", (text) => phpJson({ a: serialize(["ü", text, '"\\/\n']), b: text })],
    ["in JSON in JSON", (text) => phpJson({ a: phpJson([serialize({ "🦄": [text, "\\"] })]) })],
    ["in block attributes", (text) => `<!-- wp:x {"a":${phpJson(serialize([text]))}} --><p>${text}</p>`],
    ["in JSON with \\u0022 for quotes", (text) => hexJson({ a: serialize([serialize([text, "ü"])]) })],
    ["in such JSON in JSON", (text) => phpJson([hexJson([serialize([text])])])],
    ["in a session", (text) => `user|${serialize([text])}count|i:5;`],
    ["in an object with a custom format", (text) => selfWritten("My\\Own", serialize([text]))],
    [
      "in an object with a custom format, in JSON",
      (text) => phpJson([selfWritten("My\\Own", `x:i:0;${serialize([text])}`)]),
    ],
    ["in such an object, as plain text", (text) => serialize([1]).replace("i:1;", selfWritten("Own", `{${text}}`))],
  ])("%s", (_where, made) => {
    const renew = (text: string) => text.replaceAll("old", "much newer");
    expect(changeText(made("old"), renew)).toBe(made("much newer"));
  });

  test("in randomly nested values", () => {
    const [from, to] = ["http://old.example:81", "https://a-longer-name.example"];
    for (let seed = 0; seed < 1000; seed += 1) {
      const changed = changeText(serialize(someValue(seed, from)), (text) => changeAddress(text, from, to));
      expect(changed, `seed ${seed}`).toBe(serialize(someValue(seed, to)));
    }
  });
});

function hexJson(value: unknown): string {
  return phpJson(value).replaceAll('\\"', "\\u0022");
}

function selfWritten(name: string, payload: string): string {
  return `C:${name.length}:"${name}":${Buffer.byteLength(payload)}:{${payload}}`;
}

/** Replaces an address, also with escaped slashes, up to four levels deep. */
function changeAddress(text: string, from: string, to: string): string {
  const slashes = [0, 1, 3, 7, 15].map((count) => `${"\\".repeat(count)}/`);
  return slashes.reduce((sum, slash) => sum.replaceAll(from.replaceAll("/", slash), to.replaceAll("/", slash)), text);
}

describe("a damaged value stays unchanged", () => {
  test.each([
    ["truncated within a string", 'a:2:{i:0;s:3:"old";i:1;s:90:"old'],
    ["with a length that is too short", 'a:1:{i:0;s:2:"old";}'],
    ["with a length that is too long", 'a:1:{i:0;s:4:"old";}'],
    ["with lengths in characters", 'a:1:{i:0;s:5:"ü old";}'],
    ["an object with a custom format", 'C:3:"Own":9:{old}'],
  ])("%s", (_how, text) => {
    expect(changeText(text, change)).toBe(text);
    const around = serialize(["old", text]);
    expect(changeText(around, change)).toBe(serialize([change("old"), text]));
  });
});

test.each([
  's:3 and a:1 are old, and so is class:3:"old";',
  "a:1: an old list",
  "C:\\old",
  'In PHP, s:99:"old" is a text',
])("text that only looks serialised is changed as text: %s", (text) => {
  expect(changeText(text, change)).toBe(change(text));
});

test("invalid UTF-8 and NULs are preserved", () => {
  const text = Buffer.from([0xff, 0, 0xc3, 0x28]).toString("latin1");
  const made = (part: string) => `a:1:{i:0;s:${part.length + 4}:"${text}${part}";}`;
  const changed = changeBytes(made("old"), (part) => part.replace("old", "newer"));
  expect(changed).toBe(made("newer"));
});

test("values nested too deeply for the stack stay unchanged", () => {
  let text = 's:3:"old";';
  for (let depth = 0; depth < 20_000; depth += 1) text = `s:${text.length}:"${text}";`;
  expect(changeText(text, change)).toBe(text);
});

test("a large value in JSON is changed in linear time", () => {
  const made = (text: string) => phpJson({ a: serialize([serialize(Array.from({ length: 20_000 }, () => text))]) });
  expect(changeText(made("old"), () => "new")).not.toBe(made("old"));
});
