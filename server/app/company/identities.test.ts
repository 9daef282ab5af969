import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import { findKey, findTarget, keysChangedChannel } from "../../store/company/apiKeys.ts";
import { openNotifications } from "../../store/notifications.ts";
import { useTestDatabase } from "../../testing/database.ts";
import { createCompany } from "./companies.ts";
import { makeIdentities } from "./identities.ts";
import { readToken } from "./token.ts";

const own = useTestDatabase();

/** A new company's key, and identities that count their lookups and can be held up. */
async function start() {
  const { database, pool } = own;
  const company = await createCompany(database, { name: "Ours" });
  const state = { lookUps: 0, held: Promise.resolve() };
  const counted: typeof findKey = async (...given) => {
    state.lookUps += 1;
    const found = await findKey(...given);
    await state.held;
    return found;
  };
  const identities = makeIdentities(pool, { findKey: counted, findTarget });
  const presented = readToken(company.api_key);
  const find = async () => identities.identify(presented, null, true);
  const revoke = () =>
    database.updateTable("api_keys").set({ revoked_at: new Date() }).where("id", "=", presented.id).execute();
  return { state, identities, company, presented, find, revoke };
}

test("a key is looked up once, and again after it has been forgotten", async () => {
  const { state, identities, company, find } = await start();
  for (let count = 0; count < 3; count += 1) expect((await find())?.caller.companyId).toBe(company.company_id);
  expect(state.lookUps).toBe(1);
  identities.forgetKeys();
  await find();
  expect(state.lookUps).toBe(2);
});

test("a key that is revoked while it is looked up is not kept", async () => {
  const { state, identities, find, revoke } = await start();
  const release = Promise.withResolvers<void>();
  state.held = release.promise;
  const before = find();
  await expect.poll(() => state.lookUps).toBe(1);
  await revoke();
  identities.forgetKeys();
  release.resolve();
  await before;
  expect(await find()).toBeNull();
});

test("the keys of one company can be forgotten, and those of others stay", async () => {
  const { state, identities, company, find } = await start();
  await find();
  identities.forgetKeys(randomUUID());
  await find();
  expect(state.lookUps).toBe(1);
  identities.forgetKeys(company.company_id);
  await find();
  expect(state.lookUps).toBe(2);
});

test("another process learns from the database that a key was revoked, or changed", async () => {
  const { identities, find, revoke, presented } = await start();
  const notifications = await openNotifications({ url: own.url, channels: [keysChangedChannel] });
  let changes = 0;
  notifications.on(keysChangedChannel, () => {
    changes += 1;
    identities.forgetKeys();
  });
  try {
    expect(await find()).not.toBeNull();
    const key = own.database.updateTable("api_keys").where("id", "=", presented.id);
    await key.set({ last_used_at: new Date() }).execute();
    await key.set({ scopes: ["read"] }).execute();
    await expect.poll(() => changes).toBe(1);
    expect((await find())?.caller.scopes).toEqual(["read"]);
    await revoke();
    await expect.poll(find).toBeNull();
  } finally {
    await notifications.close();
  }
});

test("without a notification, a revoked key is refused within a second", async () => {
  const { find, revoke } = await start();
  expect(await find()).not.toBeNull();
  await revoke();
  await expect.poll(find, { timeout: 10_000 }).toBeNull();
});

test("a key expires to the millisecond, although it is kept", async () => {
  const { find, presented } = await start();
  const expiresAt = new Date(Date.now() + 400);
  await own.database.updateTable("api_keys").set({ expires_at: expiresAt }).where("id", "=", presented.id).execute();
  while (Date.now() < expiresAt.getTime()) await find();
  expect(await find()).toBeNull();
});

test("a wrong secret is refused for a key that is kept", async () => {
  const { find, identities, presented } = await start();
  await find();
  const wrong = { ...presented, secretHash: Buffer.alloc(presented.secretHash.length) };
  expect(await identities.identify(wrong, null, true)).toBeNull();
});
