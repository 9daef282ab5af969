/** Installed plugins and themes, of an environment or of all of a company's environments. */
import type { PackageKind } from "@sitewright/server/store/database.ts";
import type { CompanyPackage } from "@sitewright/server/store/packages/packageGroups.ts";
import { findUnread, type PackageRecord, packagesOf } from "@sitewright/server/store/packages/packages.ts";
import type { PackageEntry } from "../../store/packages/knownPackages.ts";
import { sitesInScope } from "../company/access.ts";
import type { Context } from "../context.ts";
import { NotFound } from "../failures.ts";
import { type Checks, checksOf } from "./checks.ts";

interface PackageFilter {
  readonly status?: "active" | "inactive";
  readonly column?: "vulnerable" | "updatesAvailable";
}

interface CompanyPackageFilter extends PackageFilter {
  readonly search?: string;
  readonly order_by?: { readonly field: "name" | "environments" | "updates"; readonly order?: "ascend" | "descend" };
  readonly limit?: number;
  readonly offset?: number;
}

/** Maximum number of unread environments that a request reads; a reconciler reads the rest. */
const maxRead = 20;
const maxInteger = 2 ** 31 - 1;

type State = "active" | "inactive";

const stateOf = (isActive: boolean): State => (isActive ? "active" : "inactive");
const availabilityOf = (updateVersion: string | null): "available" | "none" =>
  updateVersion === null ? "none" : "available";

function autoUpdateOf({ is_managed, is_auto_updated }: Pick<PackageRecord, "is_managed" | "is_auto_updated">): string {
  if (is_managed) return "Provider Automatic Update";
  return is_auto_updated ? "WordPress" : "disabled";
}

const view = (one: PackageRecord) => ({
  name: one.name,
  title: one.title,
  description: one.description,
  ...factsOf(one),
});

function matches(one: PackageRecord, { status, column }: PackageFilter): boolean {
  if (status !== undefined && stateOf(one.is_active) !== status) return false;
  if (column === "vulnerable") return one.is_vulnerable;
  return column === undefined || one.update_version !== null;
}

/** Reads the environment first if that has not happened yet. An environment without WordPress has no packages. */
export async function list(context: Context, environmentId: string, kind: PackageKind, filter: PackageFilter) {
  const { database, readInTurn, readPackages, signal } = context;
  const unread = await findUnread(database, { environmentId }, 1);
  if (unread.length > 0) await readInTurn(() => readPackages(unread, signal));
  const found = await packagesOf(database, environmentId, kind);
  if (found === null) throw new NotFound();
  return {
    containerId: found.container_id,
    last_updated_at: (found.read_at ?? new Date()).toISOString(),
    problem: found.problem,
    checks: await checksOf(context),
    items: found.packages.filter((one) => matches(one, filter)).map(view),
  };
}

export type { CompanyPackage, PackageHolder } from "@sitewright/server/store/packages/packageGroups.ts";

export interface CompanyPage {
  readonly total: number;
  readonly last_updated_at: string;
  readonly checks: Checks;
  readonly items: readonly CompanyPackage[];
}

/** State of a package in one environment. */
export interface PackageFacts {
  readonly status: State;
  readonly update: "available" | "none";
  readonly version: string;
  readonly is_version_vulnerable: boolean;
  readonly update_version: string | null;
  readonly is_update_version_vulnerable: boolean;
  readonly update_status: PackageRecord["update_status"];
  readonly auto_update_type: string;
}

export function factsOf(entry: PackageEntry): PackageFacts {
  return {
    status: stateOf(entry.is_active),
    update: availabilityOf(entry.update_version),
    version: entry.version,
    is_version_vulnerable: entry.is_vulnerable,
    update_version: entry.update_version,
    is_update_version_vulnerable: entry.is_update_vulnerable,
    update_status: entry.update_status,
    auto_update_type: autoUpdateOf(entry),
  };
}

/** Lists the packages of the company's environments in the key's scope. */
export async function listOfCompany(
  context: Context,
  kind: PackageKind,
  filter: CompanyPackageFilter,
): Promise<CompanyPage> {
  const { caller, database, companyPackages, readInTurn, readPackages, signal } = context;
  const siteIds = sitesInScope(caller);
  const unread = await findUnread(database, { companyId: caller.companyId, siteIds }, maxRead);
  if (unread.length > 0) await readInTurn(() => readPackages(unread, signal));
  const { total, read_at, items } = await companyPackages.list({
    companyId: caller.companyId,
    kind,
    siteIds,
    search: filter.search ?? null,
    status: filter.status ?? null,
    column: filter.column ?? null,
    field: filter.order_by?.field ?? "name",
    order: filter.order_by?.order ?? "ascend",
    limit: filter.limit === undefined ? null : Math.min(filter.limit, maxInteger),
    offset: filter.offset ?? 0,
  });
  return {
    total,
    last_updated_at: (read_at ?? new Date()).toISOString(),
    checks: await checksOf(context),
    items,
  };
}
