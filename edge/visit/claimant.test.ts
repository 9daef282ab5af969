import { expect, test } from "vitest";
import { makeEnvironment } from "../testing/withEdge.ts";
import { payerOf } from "./claimant.ts";

test("environments of a company have one account, and those without a company their own", () => {
  const environment = (id: string, companyId?: string) =>
    makeEnvironment("/", { id, ...(companyId === undefined ? {} : { companyId }) });
  expect([environment("a", "c"), environment("b", "c"), environment("d")].map(payerOf)).toEqual(["c", "c", "d"]);
});
