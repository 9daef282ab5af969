import { describe, expect, test } from "vitest";
import { NoFeed, readAdvisory, recordsIn } from "./advisoryFeed.ts";
import { feedOf, feedRecord } from "./testing/feed.ts";

async function* inChunks(text: string, size: number): AsyncGenerator<Buffer> {
  const bytes = Buffer.from(text);
  const memory = Buffer.alloc(size);
  for (let start = 0; start < bytes.length; start += size) {
    // As a stream may that uses its memory again.
    const length = bytes.copy(memory, 0, start, start + size);
    yield memory.subarray(0, length);
  }
}

async function cut(text: string, size = 1_000_000): Promise<(string | null)[]> {
  const found: (string | null)[] = [];
  for await (const record of recordsIn(inChunks(text, size))) found.push(record?.toString("utf8") ?? null);
  return found;
}

const odd = ['{"a":"}{"}', '{"b":"\\\\"}', '{"c":"\\"}{\\""}', '{"d":{"e":[{}, [1]]}}', "{}", '{"f":"ü🦄"}'];

test("records are cut out of it, however it is divided", async () => {
  const text = ` { ${odd.map((record, at) => `"k{${at}" : ${record}`).join(" ,\n")} }\n`;
  for (let size = 1; size < 40; size += 1) expect(await cut(text, size)).toEqual(odd);
  expect(await cut(text)).toEqual(odd);
});

test("what is no object in it is passed over, an empty feed has nothing", async () => {
  expect(await cut('{"a":1,"b":"x","c":null,"d":[{"no":1}],"e":{"yes":1}}')).toEqual(['[{"no":1}]', '{"yes":1}']);
  expect(await cut("{}")).toEqual([]);
});

test.each(["", "[]", '["a"]', "null", "<html>", '{"a":{', '{"a":"', '{"a":{}'])("%j is no feed", async (text) => {
  await expect(cut(text)).rejects.toThrow(NoFeed);
});

test("a record without end is not kept in memory", async () => {
  const large = JSON.stringify({ id: "x".repeat(6_000_000) });
  expect(await cut(`{"a":${large},"b":{}}`, 65_536)).toEqual([null, "{}"]);
});

test("a record is read as far as it matters", () => {
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
  ["with less than usual", { id: "1", title: "t", software: [] }, 0],
])("one %s is understood", (_, record, ranges) => {
  expect(readAdvisory(Buffer.from(JSON.stringify(record)))?.ranges).toHaveLength(ranges);
});

describe("is not understood:", () => {
  test.each([
    ["no JSON", "{id: 1}"],
    ["a text", '"x"'],
    ["one without an id", JSON.stringify({ ...feedRecord(), id: undefined })],
    [
      "one whose versions are a list",
      JSON.stringify({ ...feedRecord(), software: [{ type: "plugin", slug: "a", affected_versions: [{}] }] }),
    ],
    ["one without a slug", JSON.stringify({ ...feedRecord(), software: [{ type: "plugin", affected_versions: {} }] })],
  ])("%s", (_, text) => {
    expect(readAdvisory(Buffer.from(text))).toBeNull();
  });

  test("and a slug that is a list of everything is a text all the same", () => {
    const records = feedOf([feedRecord({ slug: "'; drop table packages; --" })]);
    expect(records).toContain("drop table");
    expect(readAdvisory(Buffer.from(JSON.stringify(feedRecord({ slug: "'; drop table" }))))?.ranges).toHaveLength(1);
  });
});
