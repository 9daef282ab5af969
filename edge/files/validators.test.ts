import { expect, test } from "vitest";
import { etagIn, etagOf, isKnown, withoutEtags } from "./validators.ts";

const version = { size: 1_000, modified: 1_790_000_000_123.5, changed: 1_790_000_000_456.25, inode: 7 };
const etag = etagOf(version, version.changed + 100);

test("an ETag is strong once no other change can have the same time", () => {
  const isStrong = (changed: number, age: number) => /^"/.test(etagOf({ ...version, changed }, changed + age));
  expect([isStrong(version.changed, 19), isStrong(version.changed, 20)]).toEqual([false, true]);
  const whole = 1_790_000_000_000;
  expect([isStrong(whole, 1_999), isStrong(whole, 2_000), isStrong(whole, -5_000)]).toEqual([false, true, false]);
});

test.each(["size", "modified", "changed"] as const)("a different %s makes a different ETag", (field) => {
  const other = etagOf({ ...version, [field]: version[field] + 1 }, version.changed + 1_000);
  expect(other).not.toBe(etag);
  expect(isKnown(etag, other)).toBe(field === "changed");
});

test("If-None-Match has the file in any encoding, weakly compared", () => {
  const compressed = etagIn("br", etag);
  expect(compressed).toMatch(/^W\/"[\w-]+-br"$/);
  for (const known of [etag, `W/${etag}`, compressed, etagIn("gzip", etag), `"a", ${etag}`, " * "]) {
    expect([known, isKnown(known, etag), isKnown(known, compressed)]).toEqual([known, true, true]);
  }
  expect(isKnown('"other"', etag)).toBe(false);
});

const time = new Date(version.modified).toUTCString();
const range = "bytes=1-";

test.each([
  [{ "if-none-match": etag, "if-modified-since": time }, { "if-none-match": "*" }],
  [{ "if-none-match": '"x"', "if-modified-since": time }, {}],
  [{ "if-modified-since": time }, { "if-modified-since": time }],
  [{ "if-match": etag, "if-unmodified-since": time }, {}],
  [{ "if-match": '"x"', "if-unmodified-since": time }, { "if-match": '"x"' }],
  [{ "if-match": "*" }, { "if-match": "*" }],
  [{ range, "if-range": etag }, { range }],
  [{ range, "if-range": `W/${etag}` }, {}],
  [{ range, "if-range": time }, { range }],
  [{ range, "if-range": new Date(version.modified + 1_000).toUTCString() }, {}],
  [{ range, "if-range": "" }, {}],
  [{ range }, { range }],
])("the conditions %j become %j", (headers, left) => {
  expect(withoutEtags({ ...headers, host: "a" }, version, etag)).toEqual({ ...left, host: "a" });
});

test("a weak ETag of a file that has just changed never lets a range or an If-Match pass", () => {
  const weak = etagOf(version, version.changed);
  const headers = { range, "if-range": weak, "if-match": weak };
  expect(withoutEtags(headers, version, weak)).toEqual({ "if-match": weak });
});
