/** Companies share the database's connections. */
import { sql } from "kysely";
import { expect, it } from "vitest";
import { useTestServer } from "./testing/server.ts";

const test = useTestServer();

it("a company whose changes wait leaves connections to others", async () => {
  const { addSiteWithEnvironment, call, database, otherCompany } = test.current;
  const own = await addSiteWithEnvironment();
  const theirs = await addSiteWithEnvironment(otherCompany.api_key);
  const change = (id: string, key?: string, headers = {}) =>
    call("PUT", "/v2/sites/tools/denied-ips", {
      body: { environment_id: id, ip_list: ["192.0.2.1"] },
      headers,
      ...(key !== undefined && { key }),
    });
  const waiting = await database.transaction().execute(async (transaction) => {
    await sql`select from environments where id = ${own.id} for update`.execute(transaction);
    // With and without a key, more than there are connections.
    const changes = Array.from({ length: 30 }, (_, index) =>
      change(own.id, undefined, index % 2 === 0 ? {} : { "idempotency-key": `key-${index}` }),
    );
    expect((await change(theirs.id, otherCompany.api_key)).status).toBe(200);
    return changes;
  });
  const answers = await Promise.all(waiting);
  expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
});
