import { systemActor } from "@sitewright/server/store/company/activity.ts";
import { deleteCompany } from "@sitewright/server/store/company/companies.ts";
import { addCompany } from "@sitewright/server/store/testing/rows.ts";
import { useTestDatabase } from "@sitewright/server/testing/database.ts";
import { expect, it } from "vitest";
import { makeRepeatedActivity, type RepeatableEvent } from "./repeatedActivity.ts";

const test = useTestDatabase();

function refusal(companyId: string | null, more: Partial<RepeatableEvent> = {}): RepeatableEvent {
  const common = { siteId: null, category: "userManagement", type: "useApiKey", parameters: {} } as const;
  return { companyId, ...common, actor: systemActor, publicError: "The key is revoked.", ...more };
}

const log = (companyId: string | null) =>
  test.database
    .selectFrom("activity")
    .select(["parameters", "ip_address", "public_error"])
    .where("company_id", "is not distinct from", companyId)
    .orderBy("id")
    .execute();

it("drops the events of a deleted company, and writes those of all others", async () => {
  const [deleted, other] = [await addCompany(test.database), await addCompany(test.database)];
  const repeated = makeRepeatedActivity(test.database);
  for (const id of [deleted.companyId, other.companyId, null]) repeated.note(refusal(id));
  await deleteCompany(test.database, deleted.companyId);
  await repeated.flush();
  expect(await log(other.companyId)).toHaveLength(1);
  expect(await log(null)).toHaveLength(1);
  await repeated.flush();
  expect(await log(other.companyId)).toHaveLength(1);
});

it("writes events of a company that can be written, and retries only the others", async () => {
  const [broken, other] = [await addCompany(test.database), await addCompany(test.database)];
  const repeated = makeRepeatedActivity(test.database);
  // PostgreSQL stores no null characters.
  repeated.note(refusal(broken.companyId, { parameters: { keyName: "\u0000" } }));
  repeated.note(refusal(other.companyId));
  await expect(repeated.flush()).rejects.toThrow();
  await expect(repeated.flush()).rejects.toThrow();
  expect(await log(other.companyId)).toHaveLength(1);
});

it("has one entry for all addresses of an IPv6 network", async () => {
  const { companyId } = await addCompany(test.database);
  const repeated = makeRepeatedActivity(test.database);
  for (const ipAddress of ["2001:db8::1", "2001:db8::2", "2001:db8:0:0:ffff::"]) {
    repeated.note(refusal(companyId, { actor: { ...systemActor, ipAddress } }));
  }
  await repeated.flush();
  expect(await log(companyId)).toMatchObject([{ ip_address: "2001:db8::/64", parameters: { count: "3" } }]);
});

it("has at most 20 entries for failures, whatever differs, and one with the number of the others", async () => {
  const { companyId } = await addCompany(test.database);
  const repeated = makeRepeatedActivity(test.database);
  for (let number = 0; number < 100; number += 1) {
    repeated.note(refusal(companyId, { publicError: `It may not make call ${number}.` }));
  }
  await repeated.flush();
  const entries = await log(companyId);
  expect(entries).toHaveLength(21);
  expect(entries.at(-1)?.parameters).toEqual({ count: "80" });
});
