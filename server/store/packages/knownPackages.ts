/** Known packages of a company, and queries for them. */
import type { PackageKind, UpdateStatus } from "../database.ts";

/** A package's state in one environment. */
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

/** An environment with its packages. */
export interface KnownEnvironment {
  readonly environment: NamedEnvironment;
  readonly packages: readonly KnownPackage[];
}

export interface CompanyPackagesQuery {
  readonly companyId: string;
  readonly kind: PackageKind;
  /** Null for all sites of the company. */
  readonly siteIds: readonly string[] | null;
  /** Part of the slug or the title, ignoring case; null matches all. */
  readonly search: string | null;
  readonly status: "active" | "inactive" | null;
  readonly column: "vulnerable" | "updatesAvailable" | null;
  readonly field: "name" | "environments" | "updates";
  readonly order: "ascend" | "descend";
  /** Null for no limit. */
  readonly limit: number | null;
  readonly offset: number;
}
