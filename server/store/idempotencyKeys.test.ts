import { randomBytes, randomUUID } from "node:crypto";
import { sql } from "kysely";
import { beforeAll, describe, expect, it } from "vitest";
import { useTestDatabase } from "../testing/database.ts";
import { claimIdempotencyKey, storeAnswer } from "./idempotencyKeys.ts";
import { addApiKey, addCompany } from "./testing/rows.ts";

const test = useTestDatabase();
let apiKeyId: string;
const hash = randomBytes(32);
const answer = { status: 202, headers: { location: "/there" }, body: "sealed" };

beforeAll(async () => {
  apiKeyId = (await addApiKey(test.database, await addCompany(test.database))).id;
});

/** Claims the key and stores the answer. Returns whether the key was free. */
function claimFirst(key: string): Promise<boolean> {
  return test.database.transaction().execute(async (transaction) => {
    if (await claimIdempotencyKey(transaction, apiKeyId, key, hash)) return false;
    await storeAnswer(transaction, apiKeyId, key, answer);
    return true;
  });
}

const claim = (key: string, otherHash = hash) =>
  test.database.transaction().execute((transaction) => claimIdempotencyKey(transaction, apiKeyId, key, otherHash));

describe("an idempotency key", () => {
  it("returns the stored answer and the hash of the first request to later callers", async () => {
    const key = randomUUID();
    expect(await claimFirst(key)).toBe(true);
    expect(await claim(key, randomBytes(32))).toEqual({ requestHash: hash, ...answer });
  });

  it("is claimed by one of many simultaneous requests; the others get its answer", async () => {
    const key = randomUUID();
    const won = await Promise.all(Array.from({ length: 9 }, () => claimFirst(key)));
    expect(won.filter(Boolean)).toHaveLength(1);
  });

  it("is free again when the claiming transaction rolls back", async () => {
    const key = randomUUID();
    const taken = Promise.withResolvers<void>();
    const end = Promise.withResolvers<void>();
    const broken = test.database
      .transaction()
      .execute(async (transaction) => {
        await claimIdempotencyKey(transaction, apiKeyId, key, hash);
        taken.resolve();
        await end.promise;
        throw new Error("killed");
      })
      .catch((error: Error) => error.message);
    await taken.promise;
    const second = claimFirst(key);
    end.resolve();
    expect(await broken).toBe("killed");
    expect(await second).toBe(true);
  });

  it("belongs to one API key", async () => {
    const key = randomUUID();
    await claimFirst(key);
    const other = await addApiKey(test.database, await addCompany(test.database));
    const claimed = await test.database
      .transaction()
      .execute((transaction) => claimIdempotencyKey(transaction, other.id, key, hash));
    expect(claimed).toBeNull();
  });

  it("expires after 24 hours, also among many other expired ones", async () => {
    const keys = Array.from({ length: 150 }, () => randomUUID());
    for (const key of keys) await claimFirst(key);
    const age = (hours: number) =>
      test.database
        .updateTable("idempotency_keys")
        .set({ created_at: sql<Date>`now() - make_interval(hours => ${hours}::int)` })
        .execute();
    await age(23);
    expect(await claim(keys[149] ?? "")).toMatchObject(answer);
    await age(25);
    expect(await claimFirst(keys[149] ?? "")).toBe(true);
    await claimFirst(randomUUID());
    const rows = await test.database.selectFrom("idempotency_keys").select("key").execute();
    expect(rows.length).toBeLessThanOrEqual(2);
  });
});
