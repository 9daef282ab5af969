import { endpoint, type Result, result } from "@sitewright/contract/endpoint.ts";
import { endpoints } from "@sitewright/contract/endpoints.ts";
import { Type } from "typebox";
import { describe, expect, it } from "vitest";
import { makeAnswer, type SomeCalls } from "./handling.ts";

const listNames = endpoint({
  method: "GET",
  path: "/names",
  tag: "Names",
  summary: "",
  description: "",
  responses: { 200: result(["company", "names"], "The names.", Type.Array(Type.String())) },
  verb: "read",
  resource: { kind: "key" },
});

describe("the answer of a call", () => {
  it("holds the result as the row says", () => {
    const names: Result<typeof listNames> = ["a"];
    expect(makeAnswer(listNames)(names)).toEqual({ status: 200, body: { company: { names } } });
    expect(makeAnswer(endpoints.createApiKey)("the body")).toEqual({ status: 201, body: "the body" });
  });

  it("doesn't compile from another result", () => {
    const wrong = { listRegions: () => "text" };
    // @ts-expect-error: the result is not that of the contract
    wrong satisfies SomeCalls;
    const answerer = { getOperation: async () => "text" };
    // @ts-expect-error: the endpoint writes its answer itself
    answerer satisfies SomeCalls;
    expect([wrong, answerer]).toHaveLength(2);
  });

  it("can't be made from a row that doesn't say how", () => {
    expect(() => makeAnswer(endpoints.listBackups)).toThrow("does not say where its result goes");
    expect(() => makeAnswer(endpoints.getOperation)).toThrow("more than one response");
  });
});
