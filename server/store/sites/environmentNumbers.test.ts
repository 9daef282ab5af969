/** Each environment has a number of its own, and gone environments use up none. */
import { randomUUID } from "node:crypto";
import { browserUsers, ownerOf, readersGroup } from "@sitewright/runtimes/owner.ts";
import { sql } from "kysely";
import { expect, test } from "vitest";
import { useTestDatabase } from "../../testing/database.ts";
import { recordActivity, systemActor } from "../company/activity.ts";
import type { DatabaseTransaction } from "../database.ts";
import { addCompany, addSite } from "../testing/rows.ts";
import { insertEnvironment, nextEnvironmentNumber } from "./environments.ts";

const own = useTestDatabase();
const last = 99_900;

const environmentOf = (siteId: string, companyId: string, name: string) => ({
  ...{ id: randomUUID(), siteId, companyId, name, displayName: name, isPremium: false },
  ...{ runtime: "playground", phpVersion: "8.3", containerId: randomUUID() },
});
const inTransaction = <T>(work: (transaction: DatabaseTransaction) => Promise<T>) =>
  own.database.transaction().execute(work);
const next = () => inTransaction(nextEnvironmentNumber);
const skipTo = (number: number) => sql`select setval('environment_numbers', ${number}::int)`.execute(own.database);

test("a taken name takes no number", async () => {
  const { companyId } = await addCompany(own.database);
  const { id: siteId } = await addSite(own.database, companyId);
  const before = await next();
  const insert = (name: string, displayName = name) =>
    inTransaction((transaction) =>
      insertEnvironment(transaction, { ...environmentOf(siteId, companyId, name), displayName }),
    );
  for (let count = 0; count < 20; count += 1) {
    expect(await insert("live", `Other ${count}`)).toBeNull();
    expect(await insert(`other-${count}`, "LIVE")).toBeNull();
  }
  expect(await insert("staging")).toBe(before + 1);
});

test("at the end of the range, numbers start again, except those of environments and unfinished operations", async () => {
  const { companyId } = await addCompany(own.database);
  const { id: siteId } = await addSite(own.database, companyId);
  const rows = await own.database.selectFrom("environments").select("number").execute();
  const used = rows.map(({ number }) => number);
  const free = [1, 2, 3, 4, 5, 6, 7, 8, 9].filter((number) => !used.includes(number));
  const [scratch = 0, finished = 0] = free;
  await inTransaction(async (transaction) => {
    const entry = { companyId, siteId, category: "siteActions", type: "resetSite", parameters: {}, actor: systemActor };
    const activity_id = await recordActivity(transaction, entry);
    const operation = (state: "waiting" | "succeeded", number: number) => ({
      ...{ id: randomUUID(), kind: "resetSite", company_id: companyId, activity_id, state, steps_total: 1 },
      ...{ input: JSON.stringify({ scratch: { id: randomUUID(), number } }), reference_id: randomUUID() },
    });
    await transaction
      .insertInto("operations")
      .values([operation("waiting", scratch), operation("succeeded", finished)])
      .execute();
  });
  await skipTo(last - 1);
  expect([await next(), await next()]).toEqual([last, finished]);
  await skipTo(last);
  const inserted = await inTransaction((transaction) =>
    insertEnvironment(transaction, environmentOf(siteId, companyId, "next")),
  );
  expect(inserted).toBe(finished);
});

test("every number has a user, which is no browser and not the readers' group", () => {
  expect([...browserUsers(), readersGroup()].filter((id) => id <= ownerOf(last))).toEqual([]);
});
