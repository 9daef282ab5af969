/**
 * The tables as Kysely sees them. `migrations/` is the authority; a test compares the two.
 */
import type { ColumnType, Generated, Kysely, Transaction } from "kysely";

export type Json = string | number | boolean | null | { readonly [key: string]: Json | undefined } | readonly Json[];

/** Read as a value, written as JSON text: the driver would turn a top-level array into a PostgreSQL array. */
type JsonColumn<T extends Json> = ColumnType<T, string, string>;
type Defaulted = ColumnType<Date, Date | undefined, Date>;
type Later<T> = ColumnType<T | null, T | null | undefined, T | null>;
type Moment = Later<Date>;

export interface Companies {
  id: string;
  name: string;
  created_at: Defaulted;
}

export type Role = "owner" | "admin" | "developer" | "billing";

/** Who asked, as the entry remembers them after the person, the key or the browser is gone. */
export interface Actor {
  readonly userId: string | null;
  readonly userRole: Role | null;
  readonly userFullName: string | null;
  readonly userFirstName: string | null;
  readonly apiKeyId: string | null;
  readonly apiKeyName: string | null;
  readonly ipAddress: string | null;
  readonly browserName: string | null;
  readonly browserVersion: string | null;
  readonly osName: string | null;
}

export interface Users {
  id: string;
  company_id: string;
  email: string;
  full_name: string;
  first_name: string;
  role: Role;
  password_hash: string;
  created_at: Defaulted;
}

export interface ApiKeys {
  id: string;
  company_id: string;
  user_id: string;
  name: string;
  secret_hash: Buffer;
  scopes: string[] | null;
  expires_at: Moment;
  revoked_at: Moment;
  created_at: Defaulted;
}

export interface Sites {
  id: string;
  company_id: string;
  name: string;
  display_name: string;
  region: string;
  state: "adding" | "live" | "deleting";
  created_at: Defaulted;
}

/** A redirect rule as the interface has it. */
export interface StoredRule {
  readonly from: string;
  readonly to: string;
  readonly type: "permanent" | "redirect";
  readonly domain: string | null;
  readonly traffic_from_country: string | null;
  readonly traffic_from_country_name: string | null;
  readonly traffic_from_city: string | null;
  readonly displayed_location: string | null;
}

export interface Environments {
  id: string;
  number: Generated<number>;
  site_id: string;
  company_id: string;
  name: string;
  display_name: string;
  is_premium: Generated<boolean>;
  php_version: string;
  wordpress_version: string | null;
  is_opt_out_from_automatic_php_update: Generated<boolean>;
  state: "adding" | "serving" | "restoring" | "deleting";
  container_id: string;
  created_at: Defaulted;
  is_frozen: Generated<boolean>;
  php_run: Generated<number>;
  /** Whether its pages are kept at the edge; null: as is usual. */
  edge_caching: boolean | null;
  /** Pages that were kept under another number are not shown. */
  page_cache_epoch: Generated<number>;
  /** Addresses and networks whose visitors are refused. */
  redirect_rules: ColumnType<readonly StoredRule[], string | undefined, string>;
  /** Name of the rules for the edge; null: there are none. */
  redirect_list: ColumnType<string | null, string | null | undefined, string | null>;
  denied_ips: Generated<string[]>;
  backup_due_at: Moment;
  backup_failures: Generated<number>;
  last_proof_began: Moment;
  /** It was restored on another machine, and nothing of it is on this one's disk yet. */
  awaits_rebuild: Generated<boolean>;
  php_threads: Generated<number>;
  php_memory_mb: Generated<number>;
  /** Null: as the installation has it. The same with the next. */
  request_seconds: number | null;
  disk_quota_bytes: number | null;
  disk_bytes: number | null;
  disk_measured_at: Moment;
  written_at: Moment;
  /** Paths that are asked for before an update takes its place. */
  update_checks: Generated<string[]>;
  /** In percent; null: no pictures are taken. */
  picture_threshold: ColumnType<number | null, number | null | undefined, number | null>;
  packages_read_at: Moment;
  /** What could not be read of them then. */
  packages_problem: ColumnType<string | null, string | null | undefined, string | null>;
  force_https: ColumnType<ForceHttps | null, ForceHttps | null | undefined, ForceHttps | null>;
  /** Null: what the kind of environment has. */
  mail_delivery: ColumnType<MailDelivery | null, MailDelivery | null | undefined, MailDelivery | null>;
}

export type PackageKind = "plugin" | "theme";
export type UpdateStatus = "updated" | "updating" | "failed";

export interface Packages {
  environment_id: string;
  company_id: string;
  site_id: string;
  kind: PackageKind;
  name: string;
  /** How WordPress names it: `akismet/akismet.php`. */
  file: string;
  title: string;
  description: string;
  version: string;
  /** Versions in their order: `server/packages/versions.ts`. The same with the next tables. */
  version_key: string;
  /** Its updates are not at WordPress.org. */
  is_elsewhere: boolean;
  is_active: boolean;
  /** By WordPress itself. */
  is_auto_updated: boolean;
  update_version: string | null;
  update_status: UpdateStatus | null;
  is_vulnerable: Generated<boolean>;
  is_update_vulnerable: Generated<boolean>;
  /** By us, as its environment wants it. */
  is_managed: Generated<boolean>;
  /** In whichever version. */
  vulnerable_since: Moment;
  /** That was refused last; when; and how many were to be updated together. */
  failed_version: string | null;
  failed_at: Moment;
  failed_among: number | null;
  /** When the last update failed for a reason that says nothing of the version; null: it did not. */
  hindered_at: Moment;
  hindered_among: number | null;
}

/** Written by triggers. */
export interface PackageVersions {
  environment_id: string;
  version: string;
}

export interface AutomaticUpdates {
  environment_id: string;
  plugins: boolean;
  themes: boolean;
  vulnerable_within_hours: number | null;
  except_names: string[];
  days: number[];
  start_minute: number;
  hours: number;
  time_zone: string;
}

export interface PackageOffers {
  kind: PackageKind;
  file: string;
  /** As the source calls it. Null: the source does not know it. The same with its version. */
  slug: string | null;
  version: string | null;
  version_key: string | null;
  php_key: string | null;
  wordpress_key: string | null;
  is_vulnerable: Generated<boolean>;
  checked_at: Defaulted;
}

/** `stopped`: too many had failed. */
export type RolloutState = "running" | "stopped" | "cancelled" | "ended";
export type RolloutItemState = "waiting" | "running" | "updated" | "failed" | "skipped";

export interface Rollouts {
  id: string;
  company_id: string;
  kind: PackageKind;
  /** Slug. */
  name: string;
  /** Null: for each the newest that it is offered. */
  version: string | null;
  concurrency: number;
  /** How many are updated before the others. */
  canaries: number;
  stop_after_failures: number;
  state: Generated<RolloutState>;
  /** Who asked for it. */
  actor: ColumnType<Actor, string, string>;
  created_at: Generated<Date>;
  /** When the last of its updates had ended. */
  ended_at: ColumnType<Date | null, undefined, Date>;
}

export interface RolloutItems {
  rollout_id: string;
  environment_id: string;
  position: number;
  is_canary: boolean;
  state: Generated<RolloutItemState>;
  operation_id: Later<string>;
  from_version: Later<string>;
  to_version: Later<string>;
  /** Why it failed, or was skipped. */
  reason: Later<string>;
  ended_at: Later<Date>;
}

export interface AdvisoryRanges {
  reading: number;
  advisory_id: string;
  kind: PackageKind;
  slug: string;
  from_key: string | null;
  is_from_included: boolean;
  to_key: string | null;
  is_to_included: boolean;
  affected: string;
  patched: string | null;
  title: string;
  cve: string | null;
  score: number | null;
  reference: string | null;
}

export interface AdvisoryFeedRow {
  only_one: Generated<boolean>;
  reading: Generated<number>;
  mark: string | null;
  read_at: Moment;
  checked_at: Moment;
  records: Generated<number>;
  skipped: Generated<number>;
  problem: string | null;
}

export interface UsageHours {
  environment_id: string;
  hour: Date;
  php_requests: number;
  php_milliseconds: number;
  cpu_milliseconds: number;
  killed_for_time: number;
  killed_for_memory: number;
  refused_busy: number;
  bytes_sent: number;
}

export interface UsageSeen {
  environment_id: string;
  edge_run: string;
  counters: JsonColumn<Readonly<Record<string, number>>>;
  recent_cores: number;
  seen_at: Defaulted;
}

export type MailDelivery = "send" | "keep";
export type MailState = "kept" | "queued" | "sent" | "bounced" | "failed";

export interface Mails {
  id: string;
  company_id: string;
  site_id: string;
  environment_id: string;
  sender: string | null;
  from_field: string;
  subject: string;
  recipients: string[];
  waiting: string[];
  refused: JsonColumn<readonly RefusedRecipient[]>;
  message: Buffer;
  bytes: number;
  state: MailState;
  is_wanted: Generated<boolean>;
  attempts: Generated<number>;
  queued_at: Moment;
  next_attempt_at: Moment;
  claimed_until: Moment;
  last_error: string | null;
  sent_at: Moment;
  created_at: Defaulted;
}

/** A recipient that the mail server refused, with its reply. */
export type RefusedRecipient = { readonly recipient: string; readonly message: string };

export interface Backups {
  id: Generated<number>;
  company_id: string;
  site_id: string;
  environment_id: string;
  name: string;
  note: string | null;
  type: "manual" | "scheduled" | "system-generated";
  operation_id: string;
  bytes: number | null;
  manifest: Buffer | null;
  files: number | null;
  added_bytes: number | null;
  address: string;
  verified_at: Moment;
  fully_read_at: Moment;
  expires_at: Date;
  created_at: Defaulted;
  row_counts: ColumnType<Readonly<Record<string, number>> | null, string | null | undefined, string | null>;
  last_proof: Moment;
  last_proven_restore: Moment;
  proof_error: string | null;
  damage: string | null;
  examine_at: Moment;
}

export interface DeletedSites {
  id: string;
  company_id: string;
  name: string;
  display_name: string;
  region: string;
  created_at: Date;
  deleted_at: Defaulted;
  deleted_by: string | null;
  restorable_until: Date;
}

export interface DeletedEnvironments {
  id: string;
  site_id: string;
  company_id: string;
  went_with_site: boolean;
  name: string;
  display_name: string;
  is_premium: boolean;
  php_version: string;
  wordpress_version: string | null;
  is_opt_out_from_automatic_php_update: boolean;
  container_id: string;
  php_threads: Generated<number>;
  php_memory_mb: Generated<number>;
  request_seconds: number | null;
  disk_quota_bytes: number | null;
  created_at: Date;
  domain_id: string;
  host: string;
  is_wildcard: boolean;
  deleted_at: Defaulted;
  deleted_by: string | null;
  restorable_until: Date;
  edge_caching: boolean | null;
  redirect_rules: ColumnType<readonly StoredRule[], string | undefined, string>;
  redirect_list: string | null;
  denied_ips: Generated<string[]>;
  mail_delivery: MailDelivery | null;
  domains: JsonColumn<Json>;
  force_https: ForceHttps | null;
}

export interface Packs {
  id: string;
  company_id: string;
  state: "writing" | "kept" | "lost" | "doomed";
  bytes: number | null;
  state_since: Defaulted;
  read_at: Moment;
}

export interface Pieces {
  company_id: string;
  name: Buffer;
  pack_id: string;
  start: number;
  length: number;
}

export interface ArchiveStore {
  is_only: Generated<boolean>;
  mark: Generated<string>;
  place: string | null;
  key_check: Buffer | null;
}

export interface SiteAddressesRow {
  is_only: Generated<boolean>;
  suffix: string;
  http_port: number;
  https_port: number;
}

export interface PackageSourceRow {
  is_only: Generated<boolean>;
  checked_at: Date | null;
  problem: string | null;
}

export interface BackupPacks {
  backup_id: number;
  pack_id: string;
}

/** How a domain of a customer's own is added. */
export type SetupType = "quick" | "avoid_downtime";

/** Which names visitors are sent to by https: each its own, or the primary one. */
export type ForceHttps = "same" | "primary";

export interface Domains {
  id: string;
  environment_id: string;
  site_id: string;
  company_id: string;
  name: string;
  is_active: Generated<boolean>;
  is_primary: Generated<boolean>;
  is_wildcard: Generated<boolean>;
  created_at: Defaulted;
  setup_type: Generated<SetupType | "temporary">;
  is_https: Generated<boolean>;
  verified_at: Moment;
  points_here_at: Moment;
  seen: ColumnType<Json, string | null | undefined, string | null>;
  checked_at: Moment;
  next_check_at: Moment;
  failed_checks: Generated<number>;
  uses_own_dns: Generated<boolean>;
  challenge_name: Generated<string | null>;
  zone_id: string | null;
}

export interface Zones {
  id: Generated<string>;
  company_id: string | null;
  name: string;
  serial: Generated<number>;
  created_at: Defaulted;
}

export interface ZoneVersions {
  zone_id: string;
  serial: number;
  created_at: Defaulted;
  records: unknown;
}

export interface DnsRecords {
  zone_id: string;
  name: string;
  type: string;
  ttl: number;
  resource_records: string[];
}

export interface DnsChallenges {
  name: string;
  value: string;
  expires_at: Date;
}

export interface ActivityTable {
  /** A bigint: node-postgres gives it as a string unless told otherwise; `open` tells it. */
  id: Generated<number>;
  company_id: string;
  site_id: string | null;
  category: string;
  type: string;
  parameters: JsonColumn<Readonly<Record<string, string>>>;
  is_done: Generated<boolean>;
  has_failed: Generated<boolean>;
  has_warning: Generated<boolean>;
  public_error: string | null;
  ip_address: string | null;
  user_id: string | null;
  user_role: Role | null;
  user_full_name: string | null;
  user_first_name: string | null;
  api_key_id: string | null;
  api_key_name: string | null;
  browser_name: string | null;
  browser_version: string | null;
  os_name: string | null;
  created_at: Defaulted;
}

export type OperationState = "waiting" | "running" | "succeeded" | "failed";

/** An operation that another one can't start beside. */
export interface Blocker {
  readonly id: string;
  readonly kind: string;
}

export interface Operations {
  id: string;
  kind: string;
  company_id: string;
  site_id: string | null;
  environment_id: string | null;
  activity_id: number;
  state: OperationState;
  step: string | null;
  steps_done: Generated<number>;
  steps_total: number;
  input: JsonColumn<Json>;
  secret: Buffer | null;
  result: ColumnType<Json, string | null | undefined, string | null>;
  public_error: string | null;
  failure_kind: "refused" | "superseded" | null;
  blocked_by: ColumnType<readonly Blocker[] | null, string | null | undefined, string | null>;
  reference_id: string;
  created_at: Defaulted;
  started_at: Moment;
  finished_at: Moment;
  /** How often the step that it stands at was begun by a process; 0 again when that step has ended. */
  attempts: Generated<number>;
  /** The process that claimed it; null: none has. */
  runner: string | null;
}

/** What a part of an operation came to: done, or given up for a reason that the customer reads. */
export type OperationOutcome = "done" | { readonly failed: string; readonly kind?: Operations["failure_kind"] };

export interface OperationOutcomes {
  operation_id: string;
  part: string;
  outcome: JsonColumn<OperationOutcome>;
  milliseconds: number;
}

export interface EnvironmentLocks {
  environment_id: string;
  operation_id: string;
}

export interface OperationWants {
  operation_id: string;
  environment_id: string;
}

export interface IdempotencyKeys {
  api_key_id: string;
  key: string;
  request_hash: Buffer;
  status: number | null;
  headers: ColumnType<Json, string | null | undefined, string | null>;
  body: string | null;
  created_at: Defaulted;
}

export interface DownloadableBackups {
  id: string;
  company_id: string;
  site_id: string;
  environment_id: string;
  file_name: string;
  bytes: number | null;
  created_at: Defaulted;
  expires_at: Date;
}

export interface CronRuns {
  environment_id: string;
  began_at: Date;
  ended_at: Moment;
  error: string | null;
  failures: Generated<number>;
}

export interface Restores {
  id: string;
  made_at: Date;
  restored_at: Defaulted;
}

export interface Certificates {
  id: string;
  company_id: string;
  environment_id: string;
  source: "custom" | "acme";
  names: string[];
  chain: string;
  key_sealed: Buffer;
  not_before: Date;
  not_after: Date;
  fingerprint: string;
  created_at: Defaulted;
}

export interface AcmeAccounts {
  directory: string;
  key_sealed: Buffer;
  url: string | null;
  wait_until: Moment;
  wait_reason: string | null;
}

export interface CertificateOrders {
  domain_id: string;
  certificate_id: string | null;
  directory: string | null;
  names: Generated<string[]>;
  url: string | null;
  key_sealed: Buffer | null;
  left_out: Generated<string[]>;
  claimed_until: Moment;
  next_try_at: Defaulted;
  failures: Generated<number>;
  last_error: string | null;
  last_error_at: Moment;
  limited_until: Moment;
}

export interface BegunOrders {
  id: Generated<number>;
  registrable: string;
  began_at: Defaulted;
}

export interface AcmeChallenges {
  domain_id: string;
  host: string;
  token: string;
  content: string;
}

export interface Tables {
  companies: Companies;
  users: Users;
  api_keys: ApiKeys;
  sites: Sites;
  environments: Environments;
  domains: Domains;
  backups: Backups;
  downloadable_backups: DownloadableBackups;
  packs: Packs;
  pieces: Pieces;
  backup_packs: BackupPacks;
  archive_store: ArchiveStore;
  site_addresses: SiteAddressesRow;
  package_source: PackageSourceRow;
  deleted_sites: DeletedSites;
  deleted_environments: DeletedEnvironments;
  activity: ActivityTable;
  operations: Operations;
  environment_locks: EnvironmentLocks;
  operation_outcomes: OperationOutcomes;
  operation_wants: OperationWants;
  idempotency_keys: IdempotencyKeys;
  cron_runs: CronRuns;
  restores: Restores;
  packages: Packages;
  package_offers: PackageOffers;
  package_versions: PackageVersions;
  automatic_updates: AutomaticUpdates;
  rollouts: Rollouts;
  rollout_items: RolloutItems;
  advisory_ranges: AdvisoryRanges;
  advisory_feed: AdvisoryFeedRow;
  usage_hours: UsageHours;
  usage_seen: UsageSeen;
  mails: Mails;
  certificates: Certificates;
  acme_accounts: AcmeAccounts;
  certificate_orders: CertificateOrders;
  begun_orders: BegunOrders;
  acme_challenges: AcmeChallenges;
  zones: Zones;
  zone_versions: ZoneVersions;
  dns_records: DnsRecords;
  dns_challenges: DnsChallenges;
}

export type Database = Kysely<Tables>;
export type DatabaseTransaction = Transaction<Tables>;
