/** API keys of users who are not the owner. */
import { randomUUID } from "node:crypto";
import type { Role } from "@sitewright/contract/endpoint.ts";
import type { TestServer } from "./server.ts";

/** Creates a key of another user of the company, with that role. */
export async function addKeyOf(
  { addKey, company, database }: Pick<TestServer, "addKey" | "company" | "database">,
  role: Role,
): Promise<{ readonly id: string; readonly token: string }> {
  const key = await addKey({ name: `Key of a ${role}` });
  const userId = randomUUID();
  await database
    .insertInto("users")
    .values({
      id: userId,
      company_id: company.company_id,
      email: `${userId}@example.com`,
      full_name: "Grace Hopper",
      first_name: "Grace",
      role,
      password_hash: "",
    })
    .execute();
  await database.updateTable("api_keys").set({ user_id: userId }).where("id", "=", key.id).execute();
  return key;
}
