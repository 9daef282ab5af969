import { expect, it } from "vitest";
import { siteWish, useTestServer } from "./testing/server.ts";

const taken = new Map<string, { path: string; share: number; before: Buffer; after: Buffer }[]>();
const test = useTestServer({ findPictures: async (id) => taken.get(id) ?? [] });

async function operationOf(key: string, companyId: string): Promise<string> {
  const answer = await test.current.call("POST", "/v2/sites", { body: siteWish(companyId), key });
  return answer.body.operation_id;
}

const pathOf = (operationId: string) => `/v2/operations/${encodeURIComponent(operationId)}/pictures`;

it("shows pictures of an operation, and how much they differ", async () => {
  const { company, call } = test.current;
  const id = await operationOf(company.api_key, company.company_id);
  expect((await call("GET", pathOf(id))).body).toEqual({ operation: { pictures: [] } });
  const page = { path: "/", share: 0.123456, before: Buffer.from("one"), after: Buffer.from("two") };
  taken.set(id.slice(-36), [page]);
  const [found] = (await call("GET", pathOf(id))).body.operation.pictures;
  expect(found).toEqual({
    path: "/",
    difference: 12.3,
    before: "data:image/png;base64,b25l",
    after: "data:image/png;base64,dHdv",
  });
});

it("shows nobody else's", async () => {
  const { otherCompany, call } = test.current;
  const id = await operationOf(otherCompany.api_key, otherCompany.company_id);
  expect((await call("GET", pathOf(id))).status).toBe(404);
});
