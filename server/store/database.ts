/** Types of the tables for Kysely. `migrations/` is authoritative; a test compares the two. */
import type { ColumnType, Generated, Kysely, Transaction } from "kysely";

export type Json = string | number | boolean | null | { readonly [key: string]: Json | undefined } | readonly Json[];

/** Read as a value, written as JSON text, because the driver would write a top-level array as a PostgreSQL array. */
type JsonColumn<T extends Json> = ColumnType<T, string, string>;
type DefaultNow = ColumnType<Date, Date | undefined, Date>;
type Nullable<T> = ColumnType<T | null, T | null | undefined, T | null>;
type NullableDate = Nullable<Date>;

export interface Companies {
  id: string;
  name: string;
  /** Whether sessions of users without a second factor can do nothing but add one. */
  requires_second_factor: Generated<boolean>;
  created_at: DefaultNow;
}

/** The limits of a company; null: no limit. */
interface CompanyLimitColumns {
  sites: Nullable<number>;
  environments: Nullable<number>;
  domains: Nullable<number>;
  disk_bytes: Nullable<number>;
  php_threads: Nullable<number>;
  php_memory_mb: Nullable<number>;
  api_keys: Nullable<number>;
  mail_recipients_per_hour: Nullable<number>;
}

export interface CompanyLimitsTable extends CompanyLimitColumns {
  /** Null: the row of all companies that have none of their own. */
  company_id: Nullable<string>;
}

/** A view: what companies store. */
interface DiskOfCompanies {
  company_id: string;
  bytes: number;
}

/** A view: the limits in force. */
export interface LimitsOfCompanies extends CompanyLimitColumns {
  company_id: string;
  disk_used_bytes: number;
}

export type Role = "owner" | "admin" | "developer" | "billing" | "viewer";

/** The user, API key and browser behind an action, as they were at the time. */
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
  must_change_password: Generated<boolean>;
  /** The only sites that the user has. Null: all. */
  site_ids: string[] | null;
  /** Labels whose sites the user has, too. If there are any, `site_ids` is not null. */
  label_ids: Nullable<string[]>;
  /** The sealed secret of the authenticator app. Null: none. */
  second_factor_sealed: Nullable<Buffer>;
  /** Since when codes of the app are accepted. Null: the secret is not confirmed. */
  second_factor_app_since: Nullable<Date>;
  /** Since when the user has any second factor. Null: none. */
  second_factor_since: Nullable<Date>;
  /** The time step of the last code that was accepted. */
  second_factor_step: Generated<number>;
  /** Whether the user is an operator of the installation. */
  is_operator: Generated<boolean>;
  created_at: DefaultNow;
}

export interface RecoveryCodes {
  user_id: string;
  code_hash: Buffer;
}

export interface Passkeys {
  id: string;
  user_id: string;
  name: string;
  /** At the authenticator, in base64url. */
  credential_id: string;
  public_key: Buffer;
  /** Of the console that added it. It is accepted at no other. */
  origin: string;
  /** How often the authenticator has signed; 0 if it does not count. */
  counter: number;
  can_be_backed_up: boolean;
  is_backed_up: boolean;
  transports: string[];
  created_at: DefaultNow;
  last_used_at: Nullable<Date>;
}

/** Accounts at providers with which users sign in. */
export interface ProviderAccounts {
  id: string;
  user_id: string;
  issuer: string;
  /** The account's name at the issuer. It never changes. */
  subject: string;
  /** At the last sign-in. */
  email: string;
  created_at: DefaultNow;
  last_used_at: Nullable<Date>;
}

/** Challenges that were answered and have not expired. */
export interface UsedChallenges {
  challenge_hash: Buffer;
  expires_at: Date;
}

/** The secrets of links that were mailed. */
export interface MailedLinks {
  id: string;
  secret_hash: Buffer;
  /** Whose password it replaces. Null: it is an invitation's. */
  user_id: string | null;
  invitation_id: string | null;
  expires_at: Date;
}

/** Mails to people that are to be written and sent. */
export interface AccountMails {
  id: string;
  kind: "password-reset" | "invitation";
  email: string;
  /** Of the link. */
  origin: string;
  invitation_id: string | null;
  created_at: DefaultNow;
  next_attempt_at: DefaultNow;
  attempts: Generated<number>;
}

export interface Invitations {
  id: string;
  company_id: string;
  email: string;
  role: Role;
  site_ids: string[] | null;
  label_ids: Nullable<string[]>;
  secret_hash: Buffer;
  invited_by: string;
  created_at: DefaultNow;
  expires_at: Date;
}

/** Attempts to sign in since the last one that succeeded. */
export interface SignInFailures {
  subject: Buffer;
  failures: number;
  last_at: Date;
  /** The time before the last attempt, which may have succeeded. */
  previous_at: NullableDate;
}

/** API keys, and sessions of people, which are keys in a cookie. */
export interface ApiKeys {
  id: string;
  kind: Generated<"key" | "session">;
  company_id: string;
  user_id: string;
  name: string;
  secret_hash: Buffer;
  scopes: string[] | null;
  expires_at: NullableDate;
  revoked_at: NullableDate;
  created_at: DefaultNow;
  /** The key with which it was created. */
  created_by: Nullable<string>;
  allowed_addresses: string[] | null;
  replaced_by: Nullable<string>;
  last_used_at: Date | null;
  /** Of a session: where its user signed in. */
  ip_address: Nullable<string>;
  browser_name: Nullable<string>;
  os_name: Nullable<string>;
}

export interface Labels {
  id: string;
  company_id: string;
  name: string;
  created_at: DefaultNow;
}

export interface SiteLabels {
  site_id: string;
  label_id: string;
  company_id: string;
}

export interface Sites {
  id: string;
  company_id: string;
  name: string;
  display_name: string;
  region: string;
  state: "adding" | "live" | "deleting";
  created_at: DefaultNow;
}

/** A redirect rule in the form of the API. */
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
  runtime: Generated<string>;
  php_version: string;
  wordpress_version: string | null;
  is_opt_out_from_automatic_php_update: Generated<boolean>;
  state: "adding" | "serving" | "restoring" | "deleting";
  container_id: string;
  created_at: DefaultNow;
  is_frozen: Generated<boolean>;
  php_run: Generated<number>;
  /** Whether the page cache is on; null for the default. */
  edge_caching: boolean | null;
  /** Cached pages of other epochs are invalid. */
  page_cache_epoch: Generated<number>;
  redirect_rules: ColumnType<readonly StoredRule[], string | undefined, string>;
  /** The name of the rules at the edge, or null if there are none. */
  redirect_list: ColumnType<string | null, string | null | undefined, string | null>;
  /** Blocked IP addresses and networks. */
  denied_ips: Generated<string[]>;
  is_xml_rpc_on: Generated<boolean>;
  backup_due_at: NullableDate;
  backup_failures: Generated<number>;
  last_proof_began: NullableDate;
  /** The installation was restored from a backup, and the environment's files are not on this machine yet. */
  awaits_rebuild: Generated<boolean>;
  php_threads: Generated<number>;
  php_memory_mb: Generated<number>;
  /** Null for the installation's default, like the next one. */
  request_seconds: number | null;
  disk_quota_bytes: number | null;
  disk_bytes: number | null;
  disk_measured_at: NullableDate;
  written_at: NullableDate;
  /** Paths of pages that are checked before an update goes live. */
  update_checks: Generated<string[]>;
  /** Largest accepted visual difference in percent; null takes no screenshots. */
  picture_threshold: ColumnType<number | null, number | null | undefined, number | null>;
  packages_read_at: NullableDate;
  /** Why packages could not be read, or null. */
  packages_problem: ColumnType<string | null, string | null | undefined, string | null>;
  force_https: ColumnType<ForceHttps | null, ForceHttps | null | undefined, ForceHttps | null>;
  /** Null for the default of this type of environment. */
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
  /** WordPress's name for it, such as `akismet/akismet.php`. */
  file: string;
  title: string;
  description: string;
  version: string;
  /** The version in sortable form (`server/packages/versions.ts`), as in other `…_key` columns. */
  version_key: string;
  /** Updates come from a source other than WordPress.org. */
  is_elsewhere: boolean;
  is_active: boolean;
  /** WordPress updates it automatically. */
  is_auto_updated: boolean;
  update_version: string | null;
  update_status: UpdateStatus | null;
  is_vulnerable: Generated<boolean>;
  is_update_vulnerable: Generated<boolean>;
  /** The environment's automatic updates include it. */
  is_managed: Generated<boolean>;
  /** Since when any installed version has been vulnerable. */
  vulnerable_since: NullableDate;
  /** The last version whose update failed, when, and the number of packages updated together. */
  failed_version: string | null;
  failed_at: NullableDate;
  failed_among: number | null;
  /** When the last update failed for a reason unrelated to the version, or null. */
  hindered_at: NullableDate;
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
  /** The source's name; null, like the version, if the source does not know the package. */
  slug: string | null;
  version: string | null;
  version_key: string | null;
  php_key: string | null;
  wordpress_key: string | null;
  is_vulnerable: Generated<boolean>;
  checked_at: DefaultNow;
}

/** `stopped` means that too many updates failed. */
export type RolloutState = "running" | "stopped" | "cancelled" | "ended";
export type RolloutItemState = "waiting" | "running" | "updated" | "failed" | "skipped";

export interface Rollouts {
  id: string;
  company_id: string;
  kind: PackageKind;
  /** Slug. */
  name: string;
  /** Null for the newest version offered to each environment. */
  version: string | null;
  concurrency: number;
  /** Number of environments to update before the others. */
  canaries: number;
  stop_after_failures: number;
  state: Generated<RolloutState>;
  /** Who started it. */
  actor: ColumnType<Actor, string, string>;
  created_at: Generated<Date>;
  /** When its last update ended. */
  ended_at: ColumnType<Date | null, undefined, Date>;
}

export interface RolloutItems {
  rollout_id: string;
  environment_id: string;
  position: number;
  is_canary: boolean;
  state: Generated<RolloutItemState>;
  operation_id: Nullable<string>;
  from_version: Nullable<string>;
  to_version: Nullable<string>;
  /** Why it failed or was skipped. */
  reason: Nullable<string>;
  ended_at: Nullable<Date>;
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
  read_at: NullableDate;
  checked_at: NullableDate;
  records: Generated<number>;
  skipped: Generated<number>;
  problem: string | null;
}

/** Counts of requests by name. */
type CountsColumn = ColumnType<Readonly<Record<string, number>>, string, string>;

export interface AnalyticsMinutes {
  environment_id: string;
  minute: Date;
  edge_run: string;
  counts: CountsColumn;
}

export interface AnalyticsHours {
  environment_id: string;
  hour: Date;
  counts: CountsColumn;
}

export interface AnalyticsDays {
  environment_id: string;
  day: Date;
  counts: CountsColumn;
}

export interface AnalyticsMeasured {
  step: "minute" | "hour" | "day";
  begins: Date;
}

export interface AnalyticsDisk {
  environment_id: string;
  hour: Date;
  disk_bytes: number;
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
  seen_at: DefaultNow;
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
  queued_at: NullableDate;
  next_attempt_at: NullableDate;
  claimed_until: NullableDate;
  last_error: string | null;
  sent_at: NullableDate;
  created_at: DefaultNow;
}

/** A recipient that the mail server refused, with the server's response. */
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
  verified_at: NullableDate;
  fully_read_at: NullableDate;
  expires_at: Date;
  created_at: DefaultNow;
  row_counts: ColumnType<Readonly<Record<string, number>> | null, string | null | undefined, string | null>;
  last_proof: NullableDate;
  last_proven_restore: NullableDate;
  proof_error: string | null;
  damage: string | null;
  examine_at: NullableDate;
}

export interface DeletedSites {
  id: string;
  company_id: string;
  name: string;
  display_name: string;
  region: string;
  created_at: Date;
  deleted_at: DefaultNow;
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
  runtime: Generated<string>;
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
  deleted_at: DefaultNow;
  deleted_by: string | null;
  restorable_until: Date;
  edge_caching: boolean | null;
  redirect_rules: ColumnType<readonly StoredRule[], string | undefined, string>;
  redirect_list: string | null;
  denied_ips: Generated<string[]>;
  is_xml_rpc_on: Generated<boolean>;
  mail_delivery: MailDelivery | null;
  domains: JsonColumn<Json>;
  force_https: ForceHttps | null;
}

export interface Packs {
  id: string;
  company_id: string;
  state: "writing" | "kept" | "lost" | "unused";
  bytes: number | null;
  state_since: DefaultNow;
  read_at: NullableDate;
  key_id: Buffer | null;
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

/** Written by triggers. */
export interface ListChanges {
  company_id: string;
  mark: Generated<string>;
}

/** How a customer's domain is set up. */
export type SetupType = "quick" | "avoid_downtime";

/** Where HTTPS redirects go: to the same domain, or to the primary domain. */
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
  created_at: DefaultNow;
  setup_type: Generated<SetupType | "temporary">;
  is_https: Generated<boolean>;
  verified_at: NullableDate;
  points_here_at: NullableDate;
  seen: ColumnType<Json, string | null | undefined, string | null>;
  checked_at: NullableDate;
  next_check_at: NullableDate;
  failed_checks: Generated<number>;
  uses_own_dns: Generated<boolean>;
  challenge_name: Generated<string | null>;
  zone_id: string | null;
  proof_needed: Generated<ProofNeeded | null>;
}

/** What of a domain is served only once ownership is proven. */
export type ProofNeeded = "subdomains" | "all";

/** Written by a trigger. */
export interface HeldNames {
  name: string;
  company_id: string;
  is_wildcard: boolean;
  held_until: Date;
}

export interface ServedZones {
  name: string;
  serial: number;
  digest: string;
}

export interface Zones {
  id: Generated<string>;
  company_id: string | null;
  name: string;
  serial: Generated<number>;
  created_at: DefaultNow;
}

export interface ZoneVersions {
  zone_id: string;
  serial: number;
  created_at: DefaultNow;
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
  /** A bigint, which `open.ts` parses as a number. */
  id: Generated<number>;
  /** Null for actions of the operator, which no company sees. */
  company_id: string | null;
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
  created_at: DefaultNow;
  /** False if the hash chain lacks the entry, or its end. */
  is_sealed: Generated<boolean>;
}

/** Changes that the two tables below lack. */
interface ActivityChanges {
  company_id: string;
  block: number;
  site_id: string | null;
  category: string;
  user_id: string | null;
  api_key_id: string | null;
  entries: number;
}

interface ActivityCounts {
  company_id: string;
  list: "all" | "category" | "site" | "user" | "key";
  value: string;
  block: number;
  entries: number;
}

interface ActivityCombinations {
  company_id: string;
  combination: string;
  site_id: string | null;
  category: string;
  user_id: string | null;
  api_key_id: string | null;
  entries: number;
  first_block: number;
  last_block: number;
}

/** What a seal covers: an entry in progress, the same entry with its outcome, or both at once. */
export type SealStage = "begun" | "ended" | "whole";

export interface ActivitySealTable {
  /** The company, or `operatorChain`. */
  chain: string;
  sequence: number;
  /** Not a reference: the deletion of an entry must leave its seal. */
  activity_id: number;
  stage: SealStage;
  sealed_at: Date;
  hash: Buffer;
}

export type OperationState = "waiting" | "running" | "succeeded" | "failed";

/** An operation that keeps another one from starting. */
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
  created_at: DefaultNow;
  started_at: NullableDate;
  finished_at: NullableDate;
  /** Number of attempts at the current step; 0 after the step has ended. */
  attempts: Generated<number>;
  /** The process that claimed it, or null. */
  runner: string | null;
}

/** The outcome of a part of an operation: done, or failed with a message for the customer. */
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
  created_at: DefaultNow;
}

export interface DownloadableBackups {
  id: string;
  company_id: string;
  site_id: string;
  environment_id: string;
  file_name: string;
  bytes: number | null;
  created_at: DefaultNow;
  expires_at: Date;
}

export interface CronRuns {
  environment_id: string;
  began_at: Date;
  ended_at: NullableDate;
  error: string | null;
  failures: Generated<number>;
}

export interface Restores {
  id: string;
  made_at: Date;
  restored_at: DefaultNow;
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
  created_at: DefaultNow;
}

export interface AcmeAccounts {
  directory: string;
  key_sealed: Buffer;
  url: string | null;
  wait_until: NullableDate;
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
  claimed_until: NullableDate;
  next_try_at: DefaultNow;
  failures: Generated<number>;
  last_error: string | null;
  last_error_at: NullableDate;
  limited_until: NullableDate;
}

export interface BegunOrders {
  id: Generated<number>;
  registrable: string;
  began_at: DefaultNow;
}

export interface AcmeChallenges {
  domain_id: string;
  host: string;
  token: string;
  content: string;
}

/** What has happened in a company. See migration 0057. */
export interface EventsTable {
  id: Generated<number>;
  company_id: string;
  /** Null until it can be read. */
  number: number | null;
  type: string;
  site_id: string | null;
  data: ColumnType<Json, string, string>;
  created_at: DefaultNow;
}

/** One row: the newest number, and that of the newest event that is no longer kept. */
export interface EventNumbers {
  is_only: Generated<boolean>;
  last: number;
  removed: number;
}

export interface Tables {
  companies: Companies;
  company_limits: CompanyLimitsTable;
  limits_of_companies: LimitsOfCompanies;
  disk_of_companies: DiskOfCompanies;
  users: Users;
  api_keys: ApiKeys;
  invitations: Invitations;
  recovery_codes: RecoveryCodes;
  passkeys: Passkeys;
  provider_accounts: ProviderAccounts;
  used_challenges: UsedChallenges;
  mailed_links: MailedLinks;
  account_mails: AccountMails;
  sign_in_failures: SignInFailures;
  sites: Sites;
  labels: Labels;
  site_labels: SiteLabels;
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
  activity_changes: ActivityChanges;
  activity_counts: ActivityCounts;
  activity_combinations: ActivityCombinations;
  activity_seals: ActivitySealTable;
  events: EventsTable;
  event_numbers: EventNumbers;
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
  analytics_minutes: AnalyticsMinutes;
  analytics_hours: AnalyticsHours;
  analytics_days: AnalyticsDays;
  analytics_measured: AnalyticsMeasured;
  analytics_disk: AnalyticsDisk;
  usage_hours: UsageHours;
  usage_seen: UsageSeen;
  mails: Mails;
  certificates: Certificates;
  acme_accounts: AcmeAccounts;
  certificate_orders: CertificateOrders;
  begun_orders: BegunOrders;
  acme_challenges: AcmeChallenges;
  held_names: HeldNames;
  list_changes: ListChanges;
  zones: Zones;
  served_zones: ServedZones;
  zone_versions: ZoneVersions;
  dns_records: DnsRecords;
  dns_challenges: DnsChallenges;
}

export type Database = Kysely<Tables>;
export type DatabaseTransaction = Transaction<Tables>;
