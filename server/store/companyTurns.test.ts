/** Work that is due for many companies: one with much of it does not delay the others. */
import { beforeEach, describe, expect, it } from "vitest";
import { useTestDatabase } from "../testing/database.ts";
import { chooseDueBackup } from "./backups/scheduledBackups.ts";
import { recordActivity, systemActor } from "./company/activity.ts";
import { claimDueDomains } from "./domains/domainChecks.ts";
import { listForPhpUpdate } from "./sites/environmentStates.ts";
import { addCompany, addOwnDomain, addSite } from "./testing/rows.ts";

const test = useTestDatabase();
const minutesAgo = (minutes: number) => new Date(Date.now() - minutes * 60_000);
const now = () => new Date();

beforeEach(async () => {
  await test.database.deleteFrom("companies").execute();
});

async function addCompanyWithSites(sites: number) {
  const { companyId } = await addCompany(test.database);
  const ids: string[] = [];
  for (let added = 0; added < sites; added += 1) ids.push((await addSite(test.database, companyId)).environmentId);
  return { companyId, ids };
}

describe("the company with the least work under way is next:", () => {
  it("scheduled backups", async () => {
    const [busy, other] = [await addCompanyWithSites(3), await addCompanyWithSites(1)];
    const setDue = (ids: readonly string[], backup_due_at: Date) =>
      test.database.updateTable("environments").set({ backup_due_at }).where("id", "in", ids).execute();
    await setDue(busy.ids, minutesAgo(60));
    await setDue(other.ids, minutesAgo(1));
    const choose = () =>
      test.database.transaction().execute(async (transaction) => {
        const chosen = await chooseDueBackup(transaction, now(), 10);
        const environment = chosen?.environment;
        if (environment === undefined) return null;
        const { company_id: companyId, site_id: siteId } = environment;
        const facts = {
          category: "siteActivity",
          type: "addManualBackup",
          parameters: {},
          actor: systemActor,
        } as const;
        const activity_id = await recordActivity(transaction, { companyId, siteId, ...facts });
        await transaction
          .insertInto("operations")
          .values({
            id: `backup-${environment.id}`,
            kind: "addScheduledBackup",
            company_id: companyId,
            site_id: siteId,
            activity_id,
            reference_id: environment.id,
            environment_id: environment.id,
            input: "{}",
            state: "running",
            steps_total: 1,
          })
          .execute();
        return environment.id;
      });
    const chosen = [await choose(), await choose(), await choose()];
    expect(busy.ids).toContain(chosen[0]);
    expect(chosen[1]).toBe(other.ids[0]);
    expect(busy.ids).toContain(chosen[2]);
  });

  it("DNS checks", async () => {
    const [busy, other] = [await addCompanyWithSites(1), await addCompanyWithSites(1)];
    for (let added = 0; added < 5; added += 1) await addOwnDomain(test.database, busy.ids[0] ?? "");
    const quiet = await addOwnDomain(test.database, other.ids[0] ?? "");
    const domains = test.database.updateTable("domains");
    await domains.set({ next_check_at: minutesAgo(60) }).execute();
    await domains
      .set({ next_check_at: minutesAgo(1) })
      .where("environment_id", "in", other.ids)
      .execute();
    const claimed = await claimDueDomains(test.database, { limit: 4, seconds: 60 });
    expect(claimed).toHaveLength(4);
    expect(claimed.map(({ id }) => id)).toContain(quiet);
  });

  it("changes of PHP versions", async () => {
    await addCompanyWithSites(4);
    const other = await addCompanyWithSites(1);
    const listed = await listForPhpUpdate(test.database, { runtime: "playground", versions: ["8.3"] }, 1, 2);
    expect(listed.map(({ id }) => id)).toContain(other.ids[0]);
  });
});
