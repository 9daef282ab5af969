import type { Result } from "@sitewright/contract/endpoint.ts";
import { endpoint } from "@sitewright/contract/endpoint.ts";
import { endpoints } from "@sitewright/contract/endpoints.ts";
import { Type } from "typebox";
import { describe, expect, expectTypeOf, it } from "vitest";
import { makeAnswer, type SomeCalls } from "./handling.ts";

const row = {
  method: "GET",
  path: "/probe",
  tag: "Probe",
  summary: "",
  description: "",
  verb: "read",
  resource: { kind: "key" },
} as const;
const body = Type.Object({ company: Type.Object({ names: Type.Array(Type.String()), total: Type.Integer() }) });
const whole = endpoint({ ...row, responses: { 200: { description: "", result: "body.company", body } } });

describe("the answer of a call", () => {
  it("wraps the result as the row says", () => {
    const result: Result<typeof whole> = { names: ["a"], total: 1 };
    expect(makeAnswer(whole)(result)).toEqual({ status: 200, body: { company: result } });
    expect(makeAnswer(endpoints.createApiKey)("the body")).toEqual({ status: 201, body: "the body" });
  });

  it("has no type where the row names a field that isn't there, or isn't alone", () => {
    const missing = endpoint({ ...row, responses: { 200: { description: "", result: "body.site", body } } });
    const crowded = endpoint({ ...row, responses: { 200: { description: "", result: "body.company.names", body } } });
    expectTypeOf<Result<typeof missing>>().toBeNever();
    expectTypeOf<Result<typeof crowded>>().toBeNever();
  });

  it("doesn't compile from another result", () => {
    const wrong = { listRegions: () => "text" };
    // @ts-expect-error: the result is not that of the contract
    wrong satisfies SomeCalls;
    const wholeAnswer = { getOperation: async () => "text" };
    // @ts-expect-error: the endpoint writes its answer itself
    wholeAnswer satisfies SomeCalls;
  });

  it("can't be made from a row that doesn't say how", () => {
    expect(() => makeAnswer(endpoints.listBackups)).toThrow("does not say where its result goes");
    expect(() => makeAnswer(endpoints.getOperation)).toThrow("more than one response");
  });
});
