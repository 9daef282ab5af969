import { endpoint } from "@sitewright/contract/endpoint.ts";
import { nullable } from "@sitewright/contract/schema.ts";
import { Type } from "typebox";
import { describe, expect, it } from "vitest";
import { type InputReader, makeInputReader } from "./input.ts";
import { Malformed } from "./malformed.ts";
import { faultsOfValue } from "./valueFaults.ts";

const row = endpoint({
  method: "POST",
  path: "/x",
  tag: "x",
  summary: "x",
  description: "x",
  body: Type.Object({
    name: Type.String({ minLength: 2, maxLength: 4, pattern: "^[a-z]*$" }),
    kind: Type.Optional(Type.Enum(["a", "b"], { default: "a" })),
    items: Type.Optional(
      Type.Array(Type.Object({ "a/b~c": Type.Integer({ minimum: 1, maximum: 9 }) }), { maxItems: 1 }),
    ),
    numbers: Type.Optional(Type.Array(Type.Integer())),
    when: Type.Optional(nullable(Type.String({ format: "date-time" }))),
  }),
  responses: {},
  verb: "write",
  resource: { kind: "key" },
});

const listing = endpoint({
  method: "GET",
  path: "/x",
  tag: "x",
  summary: "x",
  description: "x",
  query: Type.Object({
    limit: Type.Optional(Type.Integer({ default: 10 })),
    order_by: Type.Optional(Type.Object({ field: Type.Enum(["name"]) })),
  }),
  responses: {},
  verb: "read",
  resource: { kind: "key" },
});

const bodyOf = (value: unknown) => ({ text: JSON.stringify(value), value });
const read = (reader: InputReader, body: unknown, query = {}) =>
  reader.input({ params: {}, query, body: body === undefined ? undefined : bodyOf(body) });

function faults(reader: InputReader, body: unknown, query = {}): unknown {
  try {
    return read(reader, body, query);
  } catch (error) {
    if (error instanceof Malformed) return error.faults;
    throw error;
  }
}

describe("a body", () => {
  const reader = makeInputReader(row);

  it("gets its defaults", () => {
    expect(read(reader, { name: "abc" }).body).toEqual({ name: "abc", kind: "a" });
  });

  it.each<[unknown, unknown]>([
    [undefined, [{ path: "/name", message: "is required" }]],
    [{ name: "a" }, [{ path: "/name", message: "must be at least 2 characters long" }]],
    [{ name: "abcde" }, [{ path: "/name", message: "must be at most 4 characters long" }]],
    [{ name: "AB" }, [{ path: "/name", message: "must match ^[a-z]*$" }]],
    [{ name: "ab", kind: "c" }, [{ path: "/kind", message: "must be one of: a, b" }]],
    [{ name: "ab", items: [{}] }, [{ path: "/items/0/a~1b~0c", message: "is required" }]],
    [{ name: "ab", items: [{ "a/b~c": 0 }] }, [{ path: "/items/0/a~1b~0c", message: "must be at least 1" }]],
    [{ name: "ab", items: [{ "a/b~c": 10 }] }, [{ path: "/items/0/a~1b~0c", message: "must be at most 9" }]],
    [{ name: "ab", items: [{ "a/b~c": "1" }] }, [{ path: "/items/0/a~1b~0c", message: "must be an integer" }]],
    [{ name: "ab", when: 1 }, [{ path: "/when", message: "must be a string or null" }]],
    [{ name: "ab", when: "x" }, [{ path: "/when", message: "must be a date and time like 2027-01-01T00:00:00Z" }]],
    [[], [{ path: "", message: "must be an object" }]],
    [null, [{ path: "", message: "must be an object" }]],
  ])("%j gives the faults %j", (body, expected) => {
    expect(faults(reader, body)).toEqual(expected);
  });

  it("loses unknown fields, even if they could not be stored", () => {
    expect(read(reader, { name: "abc", other: "nul\0", more: ["\ud800"] }).body).toEqual({ name: "abc", kind: "a" });
  });

  it("is not searched for more faults if a list is too long", () => {
    const many = { name: "A", items: [{}, {}] };
    expect(faults(reader, many)).toEqual([{ path: "/items", message: "must have at most 1 items" }]);
  });

  it("gives at most one fault per value and a hundred in total", () => {
    const many = { name: "ab", numbers: Array.from({ length: 300 }, () => "x") };
    expect(faults(reader, many)).toHaveLength(100);
    expect(faults(reader, { name: "A" })).toHaveLength(1);
  });
});

describe("a GET", () => {
  const reader = makeInputReader(listing);

  it("accepts fields in the query and in a body; the query takes precedence", () => {
    expect(read(reader, undefined).query).toEqual({ limit: 10 });
    expect(read(reader, { limit: 3 }).query).toEqual({ limit: 3 });
    expect(read(reader, { limit: 3 }, { limit: "4" }).query).toEqual({ limit: 4 });
    expect(read(reader, { order_by: { field: "name" } }).query).toMatchObject({ order_by: { field: "name" } });
    expect(read(reader, undefined, { "order_by[field]": "name" }).query).toMatchObject({ order_by: { field: "name" } });
  });

  it.each([[[]], [null]])("may have an empty body as PHP and others serialise it: %j", (body) => {
    expect(read(reader, body, { limit: "4" }).query).toEqual({ limit: 4 });
    expect(faults(reader, [1])).toEqual([{ path: "", message: "must be an object" }]);
  });

  it("converts types in the query, not in the body", () => {
    expect(faults(reader, { limit: "3" })).toEqual([{ path: "/limit", message: "must be an integer" }]);
    expect(faults(reader, undefined, { order_by: "name" })).toEqual([
      { path: "/order_by", message: "must be an object" },
    ]);
  });

  it("ignores unknown fields of a body", () => {
    expect(read(reader, { nonsense: [] }).query).toEqual({ limit: 10 });
    expect(read(reader, { nonsense: "\0" }).query).toEqual({ limit: 10 });
  });
});

describe("invalid strings", () => {
  it.each<[unknown, unknown]>([
    ["fine", []],
    [{ a: ["b", { c: "nul\0" }] }, [{ path: "/a/1/c", message: "must not contain a NUL character" }]],
    [["\udfff"], [{ path: "/0", message: "must be valid Unicode" }]],
    [{ "a/b": "\0" }, [{ path: "/a~1b", message: "must not contain a NUL character" }]],
    [[1, null, true], []],
  ])("in %j: %j", (value, expected) => {
    expect(faultsOfValue(value)).toEqual(expected);
  });
});

describe("a value that would keep the process busy", () => {
  const nested = (levels: number, value: unknown): unknown => (levels === 0 ? value : [nested(levels - 1, value)]);

  it("is refused if it is nested too deeply", () => {
    expect(faultsOfValue(nested(32, "x"))).toEqual([]);
    expect(faultsOfValue(nested(5_000, "\0"))).toEqual([
      { path: "/0".repeat(32), message: "must not be nested more than 32 levels deep" },
    ]);
  });

  it.each([
    ["a list", Array(100_001).fill(1)],
    ["lists", Array(1_000).fill(Array(100).fill(1))],
    ["an object", Object.fromEntries(Array.from({ length: 100_001 }, (_, at) => [`k${at}`, 1]))],
  ])("is refused if there are too many values: %s", (_, value) => {
    expect(faultsOfValue(value)).toEqual([{ path: "", message: "must not have more than 100000 values" }]);
  });

  it("is described by at most a hundred short paths", () => {
    const faults = faultsOfValue({ ["k".repeat(100_000)]: Array(1_000).fill("\0") });
    expect(faults).toHaveLength(100);
    expect(new Set(faults.map(({ path }) => path))).toEqual(new Set([`/${"k".repeat(198)}…`]));
  });
});
