import { nullable } from "@sitewright/contract/schema.ts";
import { Type } from "typebox";
import { describe, expect, it } from "vitest";
import { readQuery } from "./query.ts";

const schema = Type.Object({
  text: Type.Optional(Type.String()),
  count: Type.Optional(Type.Integer()),
  share: Type.Optional(Type.Number()),
  flag: Type.Optional(nullable(Type.Boolean())),
  names: Type.Optional(Type.Array(Type.String())),
  order_by: Type.Optional(Type.Object({ field: Type.String(), depth: Type.Integer() })),
});

describe("readQuery", () => {
  it.each<[Record<string, unknown>, Record<string, unknown>]>([
    [{}, {}],
    [{ text: "12" }, { text: "12" }],
    [{ text: "" }, { text: "" }],
    [{ count: "12" }, { count: 12 }],
    [{ count: "-3" }, { count: -3 }],
    [{ share: "0.5" }, { share: 0.5 }],
    [{ flag: "true" }, { flag: true }],
    [{ flag: "1" }, { flag: true }],
    [{ flag: "false" }, { flag: false }],
    [{ flag: "True" }, { flag: true }],
    [{ flag: "False" }, { flag: false }],
    [{ flag: "0" }, { flag: false }],
    [{ flag: "" }, { flag: null }],
    [{ flag: "null" }, { flag: null }],
    [{ order_by: '{"field":"name","depth":1}' }, { order_by: { field: "name", depth: 1 } }],
    [{ "order_by[field]": "name", "order_by[depth]": "1" }, { order_by: { field: "name", depth: 1 } }],
    [{ names: "one" }, { names: ["one"] }],
    [{ names: ["one", "other"] }, { names: ["one", "other"] }],
    [{ names: '["one","other"]' }, { names: ["one", "other"] }],
    [{ unknown: "x", "text[x]": "y" }, {}],
  ])("reads %j as %j", (query, values) => {
    expect(readQuery(schema, query)).toEqual(values);
  });

  it.each<[Record<string, unknown>, Record<string, unknown>]>([
    [{ count: "" }, { count: "" }],
    [{ count: "1e3" }, { count: "1e3" }],
    [{ count: "0x10" }, { count: "0x10" }],
    [{ count: " 1" }, { count: " 1" }],
    [{ count: "Infinity" }, { count: "Infinity" }],
    [{ flag: "yes" }, { flag: "yes" }],
    [{ count: ["1", "2"] }, { count: ["1", "2"] }],
    [{ order_by: "{" }, { order_by: "{" }],
    [{ "order_by[__proto__]": "x" }, { order_by: { ["__proto__"]: "x" } }],
  ])("leaves %j unconverted, for validation to refuse", (query, values) => {
    expect(readQuery(schema, query)).toEqual(values);
  });
});
