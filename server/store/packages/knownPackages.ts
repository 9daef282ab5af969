/** Packages of a company as they are known, and a query of them. */
import type { PackageKind, UpdateStatus } from "../database.ts";

/** What one environment has of one package. */
export interface PackageEntry {
  readonly version: string;
  readonly update_version: string | null;
  readonly update_status: UpdateStatus | null;
  readonly is_active: boolean;
  readonly is_vulnerable: boolean;
  readonly is_update_vulnerable: boolean;
  readonly is_auto_updated: boolean;
  readonly is_managed: boolean;
}

export interface KnownPackage extends PackageEntry {
  readonly name: string;
  readonly file: string;
  readonly title: string;
  readonly description: string;
  readonly version_key: string;
}

export interface NamedEnvironment {
  readonly id: string;
  readonly site_id: string;
  readonly site_display_name: string;
  readonly display_name: string;
}

/** An environment as it is now. */
export interface KnownEnvironment {
  readonly environment: NamedEnvironment;
  readonly packages: readonly KnownPackage[];
}

export interface CompanyPackagesQuery {
  readonly companyId: string;
  readonly kind: PackageKind;
  /** Null: all of the company's. */
  readonly siteIds: readonly string[] | null;
  /** Part of the slug or the title, in whatever case; null: any. */
  readonly search: string | null;
  readonly status: "active" | "inactive" | null;
  readonly column: "vulnerable" | "updatesAvailable" | null;
  readonly field: "name" | "environments" | "updates";
  readonly order: "ascend" | "descend";
  /** Null: all. */
  readonly limit: number | null;
  readonly offset: number;
}
