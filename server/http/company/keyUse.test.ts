import { makeKeyUse } from "@sitewright/server/app/company/keyUse.ts";
import { beforeEach, describe, expect, it } from "vitest";
import { useTestServer } from "../testing/server.ts";

const test = useTestServer();
const at = (seconds: number) => new Date(Date.UTC(2026, 10, 26) + seconds * 1_000);

let now: Date;
let id: string;
beforeEach(async () => {
  now = at(0);
  ({ id } = await test.current.addKey({}));
});
/** One of several control processes. */
const aProcess = () => makeKeyUse(test.current.pool, () => now);
const lastUse = async () => {
  const { call, company } = test.current;
  const { body } = await call("GET", `/v2/company/${company.company_id}/api-keys`);
  return body.api_keys.find((each: { id: string }) => each.id === id)?.last_used_at;
};
const version = async () => {
  const { rows } = await test.current.pool.query("select xmin::text from api_keys where id = $1", [id]);
  return rows[0];
};

describe("the last use of a key", () => {
  it("is written in batches, not by requests", async () => {
    const use = aProcess();
    use.note(id);
    expect(await lastUse()).toBeNull();
    await use.flush();
    expect(await lastUse()).toBe(at(0).toISOString());
  });

  it("is written at most once a minute, by however many processes", async () => {
    const [one, other] = [aProcess(), aProcess()];
    one.note(id);
    await one.flush();
    const first = await version();
    for (const [process, seconds] of [
      [other, 1],
      [one, 30],
      [other, 59],
    ] as const) {
      now = at(seconds);
      process.note(id);
      await process.flush();
    }
    expect(await version()).toEqual(first);
    now = at(60);
    other.note(id);
    await other.flush();
    expect(await lastUse()).toBe(at(60).toISOString());
  });

  it("never becomes earlier", async () => {
    const [late, early] = [aProcess(), aProcess()];
    early.note(id);
    now = at(600);
    late.note(id);
    await late.flush();
    await early.flush();
    expect(await lastUse()).toBe(at(600).toISOString());
  });

  it("is written for other keys while one is being changed, without waiting for that", async () => {
    const other = await test.current.addKey({});
    const use = aProcess();
    use.note(id);
    use.note(other.id);
    await test.current.database.transaction().execute(async (transaction) => {
      await transaction.updateTable("api_keys").set({ name: "Changing" }).where("id", "=", other.id).execute();
      await use.flush();
    });
    expect(await lastUse()).toBe(at(0).toISOString());
    id = other.id;
    expect(await lastUse()).toBeNull();
  });

  it("is written later if the database does not answer", async () => {
    const use = aProcess();
    await test.current.database.schema.alterTable("api_keys").renameTo("away").execute();
    use.note(id);
    await expect(use.flush()).rejects.toThrow();
    await test.current.database.schema.alterTable("away").renameTo("api_keys").execute();
    await use.flush();
    expect(await lastUse()).toBe(at(0).toISOString());
  });

  it("does not count requests that are refused because of their address", async () => {
    const { addKey, call, keyUse } = test.current;
    const refused = await addKey({ allowed_addresses: ["203.0.113.7"] });
    const accepted = await addKey({});
    await call("GET", "/v2/validate", { key: refused.token });
    await call("GET", "/v2/validate", { key: accepted.token });
    await keyUse.flush();
    ({ id } = refused);
    expect(await lastUse()).toBeNull();
    ({ id } = accepted);
    expect(await lastUse()).not.toBeNull();
  });
});
