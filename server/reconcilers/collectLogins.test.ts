import { randomUUID } from "node:crypto";
import { expect, it } from "vitest";
import { makeRepeatedActivity } from "../app/company/repeatedActivity.ts";
import { noteSiteLogin } from "../app/company/siteLogins.ts";
import type { TakenLogin } from "../clients/edgeClient.ts";
import { addCompany, addSite } from "../store/testing/rows.ts";
import { useTestDatabase } from "../testing/database.ts";
import { collectLogins } from "./collectLogins.ts";

const test = useTestDatabase();

it("writes logins into the log of the site's company, with their number", async () => {
  const { database } = test;
  const { companyId } = await addCompany(database);
  const { id: siteId, environmentId } = await addSite(database, companyId, { displayName: "Shop" });
  const repeated = makeRepeatedActivity(database);
  const login = { environmentId, address: "203.0.113.7", byLink: false, user: "ada" } as const;
  const rounds: TakenLogin[][] = [
    [
      { ...login, outcome: "failed", count: 3 },
      { ...login, outcome: "succeeded", count: 1 },
      { ...login, environmentId: randomUUID(), outcome: "failed", count: 9 },
    ],
    [
      { ...login, outcome: "failed", count: 2 },
      { ...login, outcome: "succeeded", byLink: true, count: 1 },
      { ...login, outcome: "failed", user: null, count: 4 },
    ],
  ];
  const edge = { takeLogins: async () => rounds.shift() ?? [] };
  const run = () => collectLogins({ database, edge, note: (...taken) => noteSiteLogin(repeated, ...taken) });
  for (let round = 0; round < 3; round += 1) await run();
  await repeated.flush();
  const names = { siteName: "Shop", environmentName: "Live" };
  const entries = await database
    .selectFrom("activity")
    .select(["company_id", "site_id", "type", "parameters", "has_failed", "ip_address"])
    .orderBy("id")
    .execute();
  const common = { company_id: companyId, site_id: siteId, ip_address: "203.0.113.7" };
  expect(entries).toEqual([
    { ...common, type: "logInToWp", parameters: { ...names, userName: "ada", count: "5" }, has_failed: true },
    { ...common, type: "logInToWp", parameters: { ...names, userName: "ada", count: "1" }, has_failed: false },
    { ...common, type: "useWpLoginLink", parameters: { ...names, userName: "ada", count: "1" }, has_failed: false },
    { ...common, type: "logInToWp", parameters: { ...names, count: "4" }, has_failed: true },
  ]);
});
