import { nullable } from "@sitewright/contract/schema.ts";
import { Type } from "typebox";
import { describe, expect, it } from "vitest";
import { makeWriter } from "./writer.ts";

const name = Type.Object({ text: Type.String(), language: nullable(Type.String()) });
const write = makeWriter(
  Type.Array(Type.Object({ id: Type.Integer(), names: Type.Array(name), main: name, more: Type.Optional(name) })),
);

describe("a writer", () => {
  it("writes the fields of the schema in its order, and no others at any depth", () => {
    const main = { language: null, text: '"ünï"\n', secret: "s" };
    expect(write([{ secret: 1, main, names: [main, { secret: "s", text: "", language: "de" }], id: 7 }])).toBe(
      '[{"id":7,"names":[{"text":"\\"ünï\\"\\n","language":null},{"text":"","language":"de"}],"main":{"text":"\\"ünï\\"\\n","language":null}}]',
    );
    expect(write([])).toBe("[]");
  });

  it("omits absent fields", () => {
    const [main, more] = [{ text: "a", language: null }, undefined];
    expect(write([{ id: 1, names: [], main, more }])).toBe('[{"id":1,"names":[],"main":{"text":"a","language":null}}]');
  });

  it("can't be made for a schema whose fields depend on the value", () => {
    expect(() => makeWriter(Type.Union([name, Type.String()]))).toThrow("can't be picked");
  });
});
