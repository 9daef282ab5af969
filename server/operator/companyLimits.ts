/** `company limits`: shows and sets what companies may use. */
import { recordOperatorAction } from "../store/company/activity.ts";
import { listCompanies } from "../store/company/companies.ts";
import {
  type CompanyLimit,
  type CompanyLimits,
  commonLimits,
  companyLimits,
  ownCompanyLimits,
  removeCompanyLimits,
  setCompanyLimits,
} from "../store/company/companyLimits.ts";
import type { Database, DatabaseTransaction } from "../store/database.ts";
import { operatorActor } from "./actor.ts";
import type { Arguments, Run } from "./command.ts";
import { withRunningDatabase } from "./database.ts";
import { exitFailed, Failure, usageError } from "./failure.ts";
import { sizeOf, tableOf } from "./formatting.ts";

interface Flag {
  readonly flag: string;
  readonly noun: string;
  readonly minimum: number;
  /** The limit's value is the number in the flag times this. */
  readonly factor: number;
}

const flagOf: Record<CompanyLimit, Flag> = {
  sites: { flag: "sites", noun: "Sites", minimum: 0, factor: 1 },
  environments: { flag: "environments", noun: "Environments", minimum: 0, factor: 1 },
  domains: { flag: "domains", noun: "Domains", minimum: 0, factor: 1 },
  api_keys: { flag: "keys", noun: "API keys", minimum: 1, factor: 1 },
  disk_bytes: { flag: "disk-gb", noun: "Disk", minimum: 0.001, factor: 1e9 },
  php_threads: { flag: "threads", noun: "PHP threads", minimum: 1, factor: 1 },
  php_memory_mb: { flag: "memory-mb", noun: "Memory per thread", minimum: 64, factor: 1 },
  mail_recipients_per_hour: { flag: "mail-per-hour", noun: "Mail recipients per hour", minimum: 0, factor: 1 },
};

const limitNames: readonly CompanyLimit[] = [
  "sites",
  "environments",
  "domains",
  "api_keys",
  "disk_bytes",
  "php_threads",
  "php_memory_mb",
  "mail_recipients_per_hour",
];

export const limits: Run = (given, { config }) => {
  const changes = changesOf(given);
  return withRunningDatabase(config, async (database) => {
    const { id } = await targetOf(database, given);
    const isReset = given.flags.reset === true;
    await database.transaction().execute(async (transaction) => {
      if (isReset) await removeCompanyLimits(transaction, id);
      if (Object.keys(changes).length > 0) await setCompanyLimits(transaction, id, changes);
      await recordChange(transaction, id, isReset ? { reset: true, ...changes } : changes);
    });
    const company = await targetOf(database, given);
    const inForce = await (id === null ? commonLimits(database) : companyLimits(database, id));
    if (given.flags.json === true) return JSON.stringify({ company_id: id, limits: inForce });
    return `${company.name}\n${tableOf(limitNames.map((name) => [`  ${flagOf[name].noun}`, shown(name, inForce)]))}`;
  });
};

/** Looking at limits is not recorded. */
async function recordChange(transaction: DatabaseTransaction, id: string | null, changes: object): Promise<void> {
  if (Object.keys(changes).length === 0) return;
  const parameters = { companyId: id ?? "all", changes: JSON.stringify(changes) };
  await recordOperatorAction(transaction, { type: "changeCompanyLimits", parameters, actor: operatorActor() });
}

interface Target {
  /** Null: all companies without limits of their own. */
  readonly id: string | null;
  readonly name: string;
}

async function targetOf(database: Database, { words: [companyId], flags }: Arguments): Promise<Target> {
  if ((flags.all === true) === (companyId !== undefined)) {
    throw new Failure("Name one company, or use --all. List the companies with: company list", usageError);
  }
  if (companyId === undefined) return { id: null, name: "All companies without limits of their own" };
  const company = (await listCompanies(database)).find(({ id }) => id === companyId.toLowerCase());
  if (company === undefined) {
    throw new Failure(`There is no company ${companyId}. List them with: company list`, exitFailed);
  }
  const isOwn = (await ownCompanyLimits(database, company.id)) !== null;
  return { id: company.id, name: isOwn ? company.name : `${company.name} (the limits of --all apply)` };
}

/** Throws `Failure` for a value that is no number, or too small. */
function changesOf({ flags }: Arguments): Partial<CompanyLimits> {
  const given = limitNames.flatMap((name) => {
    const value = flags[flagOf[name].flag];
    return typeof value === "string" ? [[name, numberOf(flagOf[name], value)] as const] : [];
  });
  return Object.fromEntries(given);
}

function numberOf({ flag, minimum, factor }: Flag, value: string): number | null {
  if (value === "none") return null;
  const number = /^\d+(\.\d+)?$/.test(value) ? Number(value) : Number.NaN;
  const limit = Math.round(number * factor);
  if (number >= minimum && (factor !== 1 || Number.isInteger(number)) && limit <= largest(factor)) return limit;
  throw new Failure(`--${flag} must be a number from ${minimum}, or none for no limit, not "${value}".`, usageError);
}

/** PostgreSQL's integers; sizes are `bigint`. */
function largest(factor: number): number {
  return factor === 1 ? 2 ** 31 - 1 : Number.MAX_SAFE_INTEGER;
}

function shown(name: CompanyLimit, inForce: CompanyLimits): string {
  const value = inForce[name];
  if (value === null) return "no limit";
  if (name === "disk_bytes") return sizeOf(value);
  return name === "php_memory_mb" ? `${value} MB` : String(value);
}
