/** Limits of companies, which only the operator sets. Each request that adds something counts first. */
import {
  type CompanyUse,
  companyLimits,
  countOf,
  findCompanyLimits,
  lockCompany,
} from "@sitewright/server/store/company/companyLimits.ts";
import type { DatabaseTransaction } from "@sitewright/server/store/database.ts";
import type { Context } from "../context.ts";
import { Refused } from "../failures.ts";

/** The limits in force and what the company uses, with the names that the API has for an environment's limits. */
export async function get({ pool, caller }: Context) {
  const { limits, use } = await findCompanyLimits(pool, caller.companyId);
  const { php_threads: thread_count, php_memory_mb: thread_memory, ...others } = limits;
  return { id: caller.companyId, limits: { ...others, thread_count, thread_memory }, use };
}

type Counted = Exclude<keyof CompanyUse, "disk_bytes">;

const nouns: Record<Counted, string> = {
  sites: "sites",
  environments: "environments",
  domains: "domains",
  api_keys: "API keys",
};

/**
 * Throws `Refused` if the company may not have that many more. Until the transaction ends, no other request adds anything
 * that is limited.
 */
export async function requireRoomFor(
  { caller: { companyId } }: Pick<Context, "caller">,
  transaction: DatabaseTransaction,
  wanted: Partial<Record<Counted, number>>,
): Promise<void> {
  const limits = await companyLimits(transaction, companyId);
  const limited = (["sites", "environments", "domains", "api_keys"] as const).filter((name) => limits[name] !== null);
  if (limited.every((name) => wanted[name] === undefined)) return;
  await lockCompany(transaction, companyId);
  for (const name of limited) {
    const [more, maximum] = [wanted[name] ?? 0, limits[name] ?? 0];
    const current = more === 0 ? 0 : await countOf(transaction, companyId, name);
    if (current + more > maximum) refuse(name, { more, current, maximum });
  }
}

interface Numbers {
  readonly more: number;
  readonly current: number;
  readonly maximum: number;
}

function refuse(limit: Counted, { more, current, maximum }: Numbers): never {
  const removed = limit === "api_keys" ? "Revoke" : "Delete";
  throw new Refused(
    "company_limit_reached",
    `The company's limit for ${nouns[limit]} is ${maximum}. It has ${current}, and this request would add ${more}. ${removed} some, or ask the operator of this installation to raise the limit.`,
    { limit, maximum, current },
  );
}
