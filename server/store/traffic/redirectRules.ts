/** Redirect rules of environments. */
import { sql } from "kysely";
import type { Database, DatabaseTransaction, StoredRule } from "../database.ts";

/** Converts a rule to the edge's format. */
export function forEdge(rule: StoredRule) {
  const { domain, from, to, type, traffic_from_country: country, traffic_from_city: city } = rule;
  return { domain, from, to, type, country, city };
}

export interface RuleList {
  readonly id: string;
  readonly rules: readonly StoredRule[];
}

/** Returns the rules in order, or null if there is no such environment. */
export async function findRedirectRules(
  database: Database | DatabaseTransaction,
  environmentId: string,
): Promise<RuleList | null> {
  return (await rulesOf(database, environmentId).executeTakeFirst()) ?? null;
}

/** Like `findRedirectRules`, but locks the environment until the transaction ends. */
export async function lockRedirectRules(
  transaction: DatabaseTransaction,
  environmentId: string,
): Promise<RuleList | null> {
  return (await rulesOf(transaction, environmentId).forUpdate().executeTakeFirst()) ?? null;
}

function rulesOf(database: Database | DatabaseTransaction, environmentId: string) {
  return database
    .selectFrom("environments")
    .select(["id", "redirect_rules as rules"])
    .where("id", "=", environmentId)
    .where("state", "<>", "adding");
}

/** Stores the rules under a new list name for the edge. */
export async function setRedirectRules(
  transaction: DatabaseTransaction,
  environmentId: string,
  rules: readonly StoredRule[],
): Promise<void> {
  await transaction
    .updateTable("environments")
    .set({
      redirect_rules: JSON.stringify(rules),
      redirect_list: rules.length === 0 ? null : sql<string>`gen_random_uuid()`,
    })
    .where("id", "=", environmentId)
    .execute();
}

/** Returns the environment's domain names, the primary one first. */
export async function namesOfEnvironment(
  database: Database | DatabaseTransaction,
  environmentId: string,
): Promise<readonly { readonly name: string; readonly isWildcard: boolean }[]> {
  return database
    .selectFrom("domains")
    .select(["name", "is_wildcard as isWildcard"])
    .where("environment_id", "=", environmentId)
    .orderBy("is_primary", "desc")
    .orderBy("name")
    .execute();
}

/** Returns the environment's rules with their list name for the edge, or null if there are none. */
export async function findRuleList(
  database: Database,
  environmentId: string,
): Promise<{ readonly list: string; readonly rules: readonly StoredRule[] } | null> {
  const row = await database
    .selectFrom("environments")
    .select(["redirect_list as list", "redirect_rules as rules"])
    .where("id", "=", environmentId)
    .executeTakeFirst();
  return row === undefined || row.list === null ? null : { list: row.list, rules: row.rules };
}

/** Returns the names of all rule lists. */
export async function namesOfRuleLists(database: Database): Promise<readonly string[]> {
  const rows = database.selectFrom("environments").select("redirect_list").where("redirect_list", "is not", null);
  return (await rows.execute()).flatMap(({ redirect_list }) => (redirect_list === null ? [] : [redirect_list]));
}
