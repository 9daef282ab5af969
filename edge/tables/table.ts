/**
 * The edge's desired state. It is always sent as a complete table, never as a change. The edge serves from the table
 * with the highest generation it has seen, also while the control process is down.
 */

/** An environment's resource limits. */
export interface EdgeLimits {
  /** Concurrent visitors' requests in PHP. */
  readonly threads: number;
  /** The same, for all environments of the company together. Absent or null: no limit. */
  readonly companyThreads?: number | null;
  /** PHP's memory limit per process. */
  readonly memoryMb: number;
  /** PHP's time limit for a request; null: the installation's default. */
  readonly requestSeconds: number | null;
  /** The free disk quota, and when it was measured (milliseconds since 1970); null: no quota. */
  readonly disk: { readonly leftBytes: number; readonly measuredAt: number } | null;
}

export interface EdgeEnvironment {
  readonly id: string;
  /** The company that it belongs to; companies share the machine equally. Absent: one of its own. */
  readonly companyId?: string;
  readonly number: number;
  /** Name of the runtime that runs its PHP. Absent in older tables: the first one that there was. */
  readonly runtime?: string;
  readonly phpVersion: string;
  readonly release: number;
  /** Absolute path of the web root. */
  readonly documentRoot: string;
  /** Top-level folders of the web root that are served from another path: `{ "wp-admin": "/…/wp-admin" }`. */
  readonly overlays: Readonly<Record<string, string>>;
  readonly multisite: "subdirectory" | "subdomain" | null;
  /** Null if there is no WordPress. Absent in older tables: see `hasWordPress.ts`. */
  readonly wordpressVersion?: string | null;
  /** Whether writes are refused for now, because they would be lost. */
  readonly isFrozen: boolean;
  /** A changed number restarts the environment's PHP processes. Absent: 0. */
  readonly phpRestarts?: number;
  /** Whether PHP has no network access, not even to this edge. Absent: false. */
  readonly isOffline?: boolean;
  /** Absent: the installation's defaults. */
  readonly limits?: EdgeLimits;
  /** Blocked IP addresses and networks. Absent: none. */
  readonly deniedIps?: readonly string[];
  /** Whether visitors can use WordPress's XML-RPC interface. Absent: false. */
  readonly isXmlRpcOn?: boolean;
  /**
   * Name of the list of redirect rules, which is loaded when it is needed. Changed rules get a new name. Absent: no
   * rules.
   */
  readonly redirectRules?: string;
  /** Whether PHP may connect to mail servers' ports. Absent: false. */
  readonly maySendMail?: boolean;
  /** A changed epoch clears the page cache. Absent: pages are not cached. */
  readonly pageCache?: { readonly epoch: number };
  /** Primary domain, the target of `forceHttps: "primary"`. Absent: none. */
  readonly primaryHost?: string;
}

export interface EdgeHost {
  /** Lower case, without port. `*.example.com` matches all names one or more labels below `example.com`. */
  readonly name: string;
  readonly environmentId: string;
  /** Redirects HTTP to HTTPS, on the same name or on the primary domain. Absent: HTTP is served. */
  readonly forceHttps?: "same" | "primary";
}

export interface EdgeTable {
  readonly generation: number;
  readonly environments: readonly EdgeEnvironment[];
  readonly hosts: readonly EdgeHost[];
  /** Names, in the format of `hosts`, of environments that are still being restored. Absent: none. */
  readonly away?: readonly string[];
  /** TLS certificates. If several match a name, the first valid one is used. */
  readonly certificates?: readonly EdgeCertificate[];
  /** Responses to ACME challenges below `/.well-known/acme-challenge/`. Absent: none. */
  readonly challenges?: readonly EdgeChallenge[];
}

export interface EdgeCertificate {
  readonly id: string;
  /** Names as in the certificate. `*.example.com` matches names one label below `example.com`. */
  readonly names: readonly string[];
  /** Milliseconds since 1970. */
  readonly notAfter: number;
}

export interface EdgeChallenge {
  /** The host name to be validated. */
  readonly host: string;
  /** The last segment of the path. */
  readonly token: string;
  readonly content: string;
}
