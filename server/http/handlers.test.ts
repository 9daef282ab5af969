import { endpoints, type Handlers } from "@sitewright/contract/endpoints.ts";
import type { Context } from "@sitewright/server/app/context.ts";
import { describe, expect, it } from "vitest";
import { handlers } from "./handlers.ts";

describe("handlers", () => {
  it("are exactly those of the table", () => {
    expect(Object.keys(handlers).sort()).toEqual(Object.keys(endpoints).sort());
  });

  it("don't compile with one missing, or one that answers something else", () => {
    const { getSite, ...rest } = handlers;
    // @ts-expect-error: getSite is missing
    rest satisfies Handlers<Context>;
    const wrong = { ...handlers, getSite: async () => ({ status: 200 as const, body: { site: "text" } }) };
    // @ts-expect-error: the body is not that of the contract
    wrong satisfies Handlers<Context>;
    expect(getSite).toBeTypeOf("function");
  });
});
