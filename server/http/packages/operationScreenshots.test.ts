import { expect, it } from "vitest";
import type { ComparedPage } from "../../screenshots/screenshots.ts";
import { siteFields, useTestServer } from "../testing/server.ts";

const comparedPages = new Map<string, ComparedPage[]>();
const requestedPages: (string | null)[] = [];
const test = useTestServer({
  findScreenshots: async (id, only) => {
    requestedPages.push(only);
    return comparedPages.get(id) ?? [];
  },
});

async function operationOf(key: string, companyId: string): Promise<string> {
  const answer = await test.current.call("POST", "/v2/sites", { body: siteFields(companyId), key });
  return answer.body.operation_id;
}

const pathOf = (operationId: string) => `/v2/operations/${encodeURIComponent(operationId)}/pictures`;

it("lists the compared pages, with screenshots of the requested page", async () => {
  const { company, call } = test.current;
  const id = await operationOf(company.api_key, company.company_id);
  expect((await call("GET", pathOf(id))).body).toEqual({ operation: { pictures: [] } });
  const [before, after] = [Buffer.from("one"), Buffer.from("three")];
  const page = { path: "/", share: 0.123456, before: { bytes: 3, png: null }, after: { bytes: 5, png: null } };
  comparedPages.set(id.slice(-36), [page]);
  const listed = { path: "/", difference: 12.3, before_bytes: 3, after_bytes: 5 };
  expect((await call("GET", pathOf(id))).body.operation.pictures).toEqual([listed]);
  comparedPages.set(id.slice(-36), [{ ...page, before: { bytes: 3, png: before }, after: { bytes: 5, png: after } }]);
  expect((await call("GET", `${pathOf(id)}?path=%2Fshop%2F%3Fa%3D1`)).body.operation.pictures).toEqual([
    { ...listed, before: "data:image/png;base64,b25l", after: "data:image/png;base64,dGhyZWU=" },
  ]);
  expect(requestedPages).toEqual([null, null, "/shop/?a=1"]);
});

it("hides screenshots of other companies", async () => {
  const { otherCompany, call } = test.current;
  const id = await operationOf(otherCompany.api_key, otherCompany.company_id);
  expect((await call("GET", pathOf(id))).status).toBe(404);
});
