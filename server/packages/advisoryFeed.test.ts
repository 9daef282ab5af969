import { describe, expect, test } from "vitest";
import { InvalidFeed, readAdvisory, recordsIn } from "./advisoryFeed.ts";
import { feedOf, feedRecord } from "./testing/feed.ts";

async function* inChunks(text: string, size: number): AsyncGenerator<Buffer> {
  const bytes = Buffer.from(text);
  const memory = Buffer.alloc(size);
  for (let start = 0; start < bytes.length; start += size) {
    // Like a stream that reuses its memory.
    const length = bytes.copy(memory, 0, start, start + size);
    yield memory.subarray(0, length);
  }
}

async function split(text: string, size = 1_000_000): Promise<(string | null)[]> {
  const found: (string | null)[] = [];
  for await (const record of recordsIn(inChunks(text, size))) found.push(record?.toString("utf8") ?? null);
  return found;
}

const odd = ['{"a":"}{"}', '{"b":"\\\\"}', '{"c":"\\"}{\\""}', '{"d":{"e":[{}, [1]]}}', "{}", '{"f":"ü🦄"}'];

test("records are extracted with any chunk size", async () => {
  const text = ` { ${odd.map((record, at) => `"k{${at}" : ${record}`).join(" ,\n")} }\n`;
  for (let size = 1; size < 40; size += 1) expect(await split(text, size)).toEqual(odd);
  expect(await split(text)).toEqual(odd);
});

test("values that are not objects are skipped, and an empty feed has no records", async () => {
  expect(await split('{"a":1,"b":"x","c":null,"d":[{"no":1}],"e":{"yes":1}}')).toEqual(['[{"no":1}]', '{"yes":1}']);
  expect(await split("{}")).toEqual([]);
});

test.each(["", "[]", '["a"]', "null", "<html>", '{"a":{', '{"a":"', '{"a":{}'])("%j is not a feed", async (text) => {
  await expect(split(text)).rejects.toThrow(InvalidFeed);
});

test("a record that is too large is not held in memory", async () => {
  const large = JSON.stringify({ id: "x".repeat(6_000_000) });
  expect(await split(`{"a":${large},"b":{}}`, 65_536)).toEqual([null, "{}"]);
});

test("the relevant fields of a record are read", () => {
  const advisory = readAdvisory(
    Buffer.from(JSON.stringify(feedRecord({ slug: "Shop", from: "1.0", isFromIncluded: false }))),
  );
  expect(advisory).toMatchObject({ cve: "CVE-2026-1", score: 9.8, reference: "https://advisories.example/1" });
  expect(advisory?.ranges).toEqual([
    { kind: "plugin", slug: "shop", from: "1.0", isFromIncluded: false, to: "1.9", isToIncluded: true, patched: "2.0" },
  ]);
});

test.each([
  ["of WordPress itself", { ...feedRecord({ type: "core" }) }, 0],
  ["without a score", feedRecord({ score: null }), 1],
  ["with few fields", { id: "1", title: "t", software: [] }, 0],
])("a record %s is read", (_, record, ranges) => {
  expect(readAdvisory(Buffer.from(JSON.stringify(record)))?.ranges).toHaveLength(ranges);
});

describe("a record is rejected if it", () => {
  test.each([
    ["is not JSON", "{id: 1}"],
    ["is a string", '"x"'],
    ["has no id", JSON.stringify({ ...feedRecord(), id: undefined })],
    [
      "has a list of versions",
      JSON.stringify({ ...feedRecord(), software: [{ type: "plugin", slug: "a", affected_versions: [{}] }] }),
    ],
    ["has no slug", JSON.stringify({ ...feedRecord(), software: [{ type: "plugin", affected_versions: {} }] })],
  ])("%s", (_, text) => {
    expect(readAdvisory(Buffer.from(text))).toBeNull();
  });

  test("but not because of special characters in its slug", () => {
    const records = feedOf([feedRecord({ slug: "'; drop table packages; --" })]);
    expect(records).toContain("drop table");
    expect(readAdvisory(Buffer.from(JSON.stringify(feedRecord({ slug: "'; drop table" }))))?.ranges).toHaveLength(1);
  });
});
