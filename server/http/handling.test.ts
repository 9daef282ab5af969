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

describe("the response to a call", () => {
  it("contains the result where the row says", () => {
    const names: Result<typeof listNames> = ["a"];
    expect(makeAnswer(listNames)(names)).toEqual({ status: 200, body: { company: { names } } });
    expect(makeAnswer(endpoints.createApiKey)("the body")).toEqual({ status: 201, body: "the body" });
  });

  it("doesn't compile from a wrong result", () => {
    const wrong = { listRegions: () => "text" };
    // @ts-expect-error: the result does not match the contract
    wrong satisfies SomeCalls;
    const unknownCall = { getOperation: async () => "text" };
    // @ts-expect-error: this endpoint needs a response handler
    unknownCall satisfies SomeCalls;
    expect([wrong, unknownCall]).toHaveLength(2);
  });

  it("can't be built from a row that does not describe exactly one response with a result", () => {
    expect(() => makeAnswer(endpoints.listBackups)).toThrow("does not say which fields contain its result");
    expect(() => makeAnswer(endpoints.getOperation)).toThrow("does not have exactly one response");
  });
});
