/** The state of the demo: a company with sites, people and operations, in the memory of a browser tab. */
import type { Calls } from "@sitewright/contract/endpoints.ts";
import type { OperationKind } from "@sitewright/contract/operationKinds.ts";

/** The result of a call, as the contract describes it. */
export type ResultOf<Name extends keyof Calls<World>> = Awaited<ReturnType<Calls<World>[Name]>>;

export type PackageType = "plugin" | "theme";

export interface InstalledPackage {
  readonly type: PackageType;
  readonly name: string;
  readonly title: string;
  readonly description: string;
  version: string;
  isActive: boolean;
  /** Absent: there is no newer version. */
  newest?: string;
  isVulnerable: boolean;
  updateStatus: "updated" | "updating" | "failed" | null;
}

export interface DemoDomain {
  readonly id: string;
  readonly name: string;
  readonly setup: "temporary" | "quick" | "avoid_downtime";
  readonly isWildcardless: boolean;
  isVerified: boolean;
  pointsHere: boolean;
  certificate: "acme" | "custom" | null;
}

/** Milliseconds since 1970. */
type Time = number;

export interface DemoBackup {
  readonly id: number;
  readonly name: string;
  readonly note: string | null;
  readonly type: "manual" | "scheduled" | "system-generated";
  readonly createdAt: Time;
  provenAt: Time | null;
  readonly bytes: number;
}

export interface DemoMail {
  readonly id: string;
  readonly from: string;
  readonly recipients: readonly string[];
  readonly subject: string;
  readonly text: string;
  readonly createdAt: Time;
  state: "kept" | "queued" | "sent" | "bounced" | "failed";
  sentAt: Time | null;
  lastError: string | null;
}

export type RedirectRule = ResultOf<"listRedirectRules">["container_info"]["redirect_rules"]["rules"][number];
export type AutomaticUpdates = ResultOf<"getAutomaticUpdates">["automatic_updates"];

/** Settings of an environment. */
export interface EnvironmentSettings {
  threadCount: number;
  threadMemory: number;
  requestSeconds: number;
  diskBytes: number | null;
  delivery: "send" | "keep";
  forceHttps: "ENABLED_FOR_ALL" | "ENABLED_REDIRECT_TO_PRIMARY" | "DISABLED";
  isCached: boolean;
  isXmlRpcEnabled: boolean;
  deniedIps: readonly string[];
  updateChecks: readonly string[];
  pictureThreshold: number | null;
  automaticUpdates: AutomaticUpdates;
  staysOnPhp: boolean;
}

export interface DemoEnvironment {
  readonly id: string;
  readonly name: string;
  readonly displayName: string;
  readonly isPremium: boolean;
  readonly domains: DemoDomain[];
  primaryDomainId: string;
  wordpress: string | null;
  php: string;
  runtime: string;
  packages: InstalledPackage[];
  backups: DemoBackup[];
  mails: DemoMail[];
  redirects: RedirectRule[];
  downloads: { readonly id: string; readonly createdAt: Time; isReady: boolean }[];
  readonly settings: EnvironmentSettings;
  diskBytes: number;
  /** How busy it is: visits in an average hour. */
  readonly visitsPerHour: number;
  /** The last update that took screenshots. */
  pictured: string | null;
  readonly administrators: string[];
}

export interface DemoSite {
  readonly id: string;
  readonly name: string;
  readonly displayName: string;
  readonly createdAt: Time;
  readonly labels: Set<string>;
  readonly environments: DemoEnvironment[];
  /** Sites under creation are not listed. */
  isReady: boolean;
}

export interface Deleted<Thing> {
  readonly thing: Thing;
  readonly deletedAt: Time;
  readonly deletedBy: string;
  readonly backupId: number;
}

export interface DeletedEnvironment extends Deleted<DemoEnvironment> {
  readonly siteId: string;
}

export type Role = "owner" | "admin" | "developer" | "billing" | "viewer";

export interface Access {
  readonly role: Role;
  readonly siteIds: readonly string[] | null;
  readonly labelIds: readonly string[] | null;
}

export interface Person {
  readonly id: string;
  readonly email: string;
  readonly fullName: string;
  access: Access;
  lastSignedInAt: Time | null;
  factor: Factor;
}

/** A second factor. */
export interface Factor {
  appSince: Time | null;
  passkeys: ResultOf<"getSecondFactor">["passkeys"];
  recoveryCodesLeft: number;
}

export interface DemoInvitation {
  readonly id: string;
  readonly email: string;
  readonly access: Access;
  readonly invitedBy: string;
  readonly createdAt: Time;
  readonly token: string;
}

export type DemoKey = ResultOf<"setAllowedAddresses">;

export interface DemoSession {
  readonly id: string;
  readonly personId: string;
  readonly createdAt: Time;
  readonly place: string;
  readonly browser: string;
  readonly system: string;
}

export interface DemoOperation {
  readonly id: string;
  readonly kind: OperationKind;
  readonly siteId: string | null;
  readonly environmentId: string | null;
  readonly steps: readonly string[];
  readonly createdAt: Time;
  state: "running" | "succeeded" | "failed";
  stepsDone: number;
  finishedAt: Time | null;
  message: string | null;
  blockedBy: readonly { readonly operation_id: string; readonly kind: OperationKind }[];
  result: unknown;
}

export type ActivityEntry = ResultOf<"listActivity">["items"][number];
export type ActivityCategory = NonNullable<Parameters<Calls<World>["listActivity"]>[1]["query"]["category"]>;

export interface Recorded {
  readonly entry: ActivityEntry;
  readonly category: ActivityCategory;
}

export type RecordSet = ResultOf<"listDnsRecords">[number];

export interface DemoZone {
  readonly domain: string;
  /** Oldest first; the last one is served. */
  readonly versions: { readonly serial: number; readonly createdAt: Time; readonly records: readonly RecordSet[] }[];
}

export type Rollout = ResultOf<"getRollout">;

/** An event, as the stream of events sends it. */
export interface DemoEvent {
  readonly id: number;
  readonly type: string;
  readonly data: Readonly<Record<string, unknown>>;
}

/** Time, which tests let pass faster. */
export interface Clock {
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** Does the work after that many milliseconds. */
  readonly later: (milliseconds: number, work: () => void) => void;
}

export interface World {
  readonly clock: Clock;
  readonly company: { readonly id: string; readonly name: string; requiresSecondFactor: boolean };
  readonly sites: DemoSite[];
  readonly deletedSites: Deleted<DemoSite>[];
  readonly deletedEnvironments: DeletedEnvironment[];
  readonly labels: { readonly id: string; name: string }[];
  readonly people: Person[];
  readonly invitations: DemoInvitation[];
  readonly keys: DemoKey[];
  /** The first one is that of this tab, unless nobody has signed in. */
  readonly sessions: DemoSession[];
  /** The session of this tab. Null: nobody has signed in. */
  sessionId: string | null;
  /** Newest first. */
  readonly operations: DemoOperation[];
  /** Newest first. */
  readonly activity: Recorded[];
  readonly zones: DemoZone[];
  /** Newest first. */
  readonly rollouts: Rollout[];
  readonly listeners: Set<(event: DemoEvent) => void>;
  /** The number of ids given so far, of things that have numbers. */
  lastNumber: number;
}
