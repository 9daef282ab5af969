import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import { createTestDatabase } from "../testing/database.ts";
import { migrate, readMigrations } from "./migrate.ts";

test.each([
  [null, null],
  [
    ["read", "write"],
    ["read", "write", "keys"],
  ],
  [["read"], ["read"]],
  [["delete"], ["delete"]],
  [["non-live"], ["non-live"]],
  [
    ["write", "non-live"],
    ["write", "non-live", "keys"],
  ],
  [
    ["write", "site:54fb80af-576c-4fdc-ba4f-b596c83f15a1"],
    ["write", "site:54fb80af-576c-4fdc-ba4f-b596c83f15a1"],
  ],
])("upgrading a key with the scopes %j leaves it with %j", async (before, after) => {
  await using own = await createTestDatabase({ template: "template0" });
  const migrations = await readMigrations();
  const name = "0042-key-restrictions";
  await migrate(
    own.pool,
    migrations.slice(
      0,
      migrations.findIndex((migration) => migration.name === name),
    ),
  );
  const [company, user, key] = [randomUUID(), randomUUID(), randomUUID()];
  await own.pool.query("insert into companies (id, name) values ($1, 'Ours')", [company]);
  await own.pool.query(
    `insert into users (id, company_id, email, full_name, first_name, role, password_hash)
     values ($1, $2, 'ada@example.com', 'Ada', 'Ada', 'owner', '')`,
    [user, company],
  );
  await own.pool.query(
    "insert into api_keys (id, company_id, user_id, name, secret_hash, scopes) values ($1, $2, $3, 'Old', $4, $5)",
    [key, company, user, Buffer.alloc(32), before],
  );
  await migrate(own.pool, migrations);
  expect((await own.pool.query("select scopes from api_keys")).rows).toEqual([{ scopes: after }]);
});
