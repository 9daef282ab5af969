import { expect, it } from "vitest";
import { useTestDatabase } from "../../testing/database.ts";
import { addCompany } from "../testing/rows.ts";
import { endActivity, recordActivity, systemActor } from "./activity.ts";

const test = useTestDatabase();

it("an entry ends once: the first result stays", async () => {
  const { companyId } = await addCompany(test.database);
  const entry = { companyId, siteId: null, category: "siteActions", type: "addSite", parameters: { siteName: "Demo" } };
  const id = await test.database
    .transaction()
    .execute((transaction) => recordActivity(transaction, { ...entry, actor: systemActor }));
  const end = (hasFailed: boolean, publicError: string | null) =>
    test.database.transaction().execute((transaction) => endActivity(transaction, id, { hasFailed, publicError }));
  await end(true, "The disk is full.");
  await end(false, null);
  const row = await test.database.selectFrom("activity").selectAll().executeTakeFirstOrThrow();
  expect(row).toMatchObject({ id, is_done: true, has_failed: true, public_error: "The disk is full." });
  expect(row.parameters).toEqual({ siteName: "Demo" });
  expect(row.id).toBeTypeOf("number");
});
