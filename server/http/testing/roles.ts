/** Keys of people who may do less than the owner. */
import { randomUUID } from "node:crypto";
import type { Role } from "@sitewright/contract/endpoint.ts";
import type { TestServer } from "./server.ts";

/** A key of another person of the company. */
export async function addKeyOf(
  { addKey, company, database }: Pick<TestServer, "addKey" | "company" | "database">,
  role: Role,
): Promise<{ readonly id: string; readonly token: string }> {
  const key = await addKey({ name: `Of a ${role}` });
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
