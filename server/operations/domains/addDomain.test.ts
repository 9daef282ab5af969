import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "vitest";
import { systemActor } from "../../store/company/activity.ts";
import { addOwnDomain } from "../../store/testing/rows.ts";
import { visit } from "../../testing/edge.ts";
import { liveSite } from "../../testing/sites.ts";
import { withEngine } from "../../testing/withEngine.ts";
import { makeWorld, type World } from "../../testing/world.ts";
import type { AddDomainInput } from "./addDomain.ts";

let world: World;
beforeAll(async () => {
  world = await makeWorld();
});
afterAll(() => world[Symbol.asyncDispose]());

test("a domain that needs a proof is added but not served, and the record to publish is in result and warning", async () => {
  const { companyId, siteId, environment } = await liveSite(world);
  const { database } = world.own;
  const name = `${randomUUID()}.example`;
  const id = await addOwnDomain(database, environment.id, { name, isActive: false, proofNeeded: "all" });
  const record = { name: `_sitewright-verify.${name}.`, type: "TXT", value: "sitewright-verify=0123" };
  const domains = [{ id, name, recordToPublish: record }];
  const operation = await withEngine(world, (harness) =>
    harness.submit({
      kind: "addDomain",
      companyId,
      siteId,
      environmentId: environment.id,
      locks: [environment.id],
      input: { domains, certificateId: null, isServedAtOnce: true } satisfies AddDomainInput,
      whenBusy: "fail",
      actor: systemActor,
      activityParameters: {},
    }),
  );
  expect(operation).toMatchObject({
    state: "succeeded",
    result: { domains: [{ id, name, record_to_publish: record }] },
  });
  const entries = database
    .selectFrom("activity")
    .select(["has_warning", "public_error"])
    .where("type", "=", "addDomain");
  const { has_warning, public_error } = await entries.executeTakeFirstOrThrow();
  expect(has_warning).toBe(true);
  expect(public_error).toContain(`publish the record TXT ${record.name} with the value "${record.value}"`);
  expect((await visit(world.facts.edgePort, `http://${name}:${world.facts.edgePort}`)).status).toBe(404);
});
