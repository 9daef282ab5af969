import { endpoints, type Handlers } from "@sitewright/contract/endpoints.ts";
import type { Context } from "@sitewright/server/app/context.ts";
import { describe, expect, it } from "vitest";
import { handlers } from "./handlers.ts";
import { publicHandlers } from "./publicCalls.ts";

describe("handlers", () => {
  it("exist for exactly the endpoints of the table", () => {
    expect(Object.keys({ ...handlers, ...publicHandlers }).sort()).toEqual(Object.keys(endpoints).sort());
  });

  it("don't compile if one is missing or returns the wrong body", () => {
    const { getSite, ...rest } = handlers;
    // @ts-expect-error: getSite is missing
    rest satisfies Handlers<Context>;
    const wrong = { ...handlers, getSite: async () => ({ status: 200 as const, body: { site: "text" } }) };
    // @ts-expect-error: the body does not match the contract
    wrong satisfies Handlers<Context>;
    expect(getSite).toBeTypeOf("function");
  });
});
