/** On an installation with one company, no name needs a proof, and DNS is not asked for any. */
import { randomUUID } from "node:crypto";
import { beforeAll, expect, it } from "vitest";
import { endOperation } from "../../store/operations.ts";
import { testSettings, useTestServer } from "../testing/server.ts";

const asked: string[] = [];
const test = useTestServer({
  lookUp: async (type, name) => {
    asked.push(`${type} ${name}`);
    return testSettings.edgeAddresses.slice(0, 1);
  },
});
beforeAll(async () => {
  const { database, otherCompany } = test.current;
  await database.deleteFrom("companies").where("id", "=", otherCompany.company_id).execute();
});

it("adds, removes and adds names again without a question to DNS", async () => {
  const { addSiteWithEnvironment, call, database } = test.current;
  const { id } = await addSiteWithEnvironment();
  const domain_name = `${randomUUID()}.example`;
  for (const name of [domain_name, `shop.${domain_name}`, domain_name]) {
    const body = { domain_name: name, add_with_www_subdomain: true };
    const answer = await call("POST", `/v2/sites/environments/${id}/domains`, { body });
    expect(answer.status).toBe(202);
    const { operation_id } = answer.body;
    await database
      .transaction()
      .execute((transaction) => endOperation(transaction, operation_id, { state: "succeeded", result: null }));
    const rows = await database.selectFrom("domains").select("proof_needed").where("environment_id", "=", id).execute();
    expect(new Set(rows.map(({ proof_needed }) => proof_needed))).toEqual(new Set([null]));
    await database.deleteFrom("domains").where("name", "like", `%${name}`).execute();
  }
  expect(asked).toEqual([]);
});
