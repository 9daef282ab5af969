import { expect, it } from "vitest";
import { siteFields, useTestServer } from "../testing/server.ts";

const test = useTestServer({ regions: [{ id: "europe-west3", name: "Frankfurt, Germany" }] });

it("of an installation with a list of regions, only those are offered and accepted", async () => {
  const { call, company } = test.current;
  const { body } = await call("GET", `/v2/company/${company.company_id}/available-regions`);
  expect(body.company.available_regions).toEqual([{ region: "europe-west3", name: "Frankfurt, Germany" }]);
  for (const [region, status] of [
    ["us-east1", 400],
    ["europe-west3", 202],
  ] as const) {
    const answer = await call("POST", "/v2/sites", { body: siteFields(company.company_id, { region }) });
    expect(answer.status).toBe(status);
    if (status === 400) expect(answer.body.data).toEqual({ code: "unknown_region", region });
  }
});
