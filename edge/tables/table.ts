/**
 * What the edge is told: one whole table, never a change to it. The edge keeps the table with the highest
 * generation it has seen, in memory and in a file, and needs nobody to serve from it.
 */

/** What an environment may take. */
export interface EdgeLimits {
  /** Visitors' requests that PHP answers at once. */
  readonly threads: number;
  /** For PHP's own data, of each process. */
  readonly memoryMb: number;
  /** How long PHP may take for a request; null: as long as any. */
  readonly requestSeconds: number | null;
  /** By how much it could still grow, and when (ms since 1970) that was found out; null: no limit. */
  readonly disk: { readonly leftBytes: number; readonly measuredAt: number } | null;
}

export interface EdgeEnvironment {
  readonly id: string;
  readonly number: number;
  readonly phpVersion: string;
  readonly release: number;
  /** Absolute path of the web root. */
  readonly documentRoot: string;
  /** First folders of the web root that are served from elsewhere: `{ "wp-admin": "/…/wp-admin" }`. */
  readonly overlays: Readonly<Record<string, string>>;
  readonly multisite: "subdirectory" | "subdomain" | null;
  /** Whether whatever could be written is refused for the moment, because it would be lost. */
  readonly isFrozen: boolean;
  /** Another number than before where fresh PHP processes are wanted; 0 where it is left out. */
  readonly phpRun?: number;
  /** Whether PHP reaches nothing outside of the environment, this edge included; false if it is left out. */
  readonly isOffline?: boolean;
  /** The usual ones where they are left out. */
  readonly limits?: EdgeLimits;
  /** Addresses and networks whose visitors get nothing. Absent: none. */
  readonly deniedIps?: readonly string[];
  /** Names the list of its redirect rules, which is read when it is first needed; another list, another name. Absent: none. */
  readonly redirectRules?: string;
  /** Whether PHP reaches the ports of mail servers; false if it is left out. */
  readonly maySendMail?: boolean;
  /** Under which number its pages are kept: under another number, none of those before is shown. Absent: none is kept. */
  readonly pageCache?: { readonly epoch: number };
  /** Name of its primary domain, which `forceHttps: "primary"` leads to. Absent: there is none. */
  readonly primaryHost?: string;
}

export interface EdgeHost {
  /** Lower case, without port; `*.example.com` stands for every name one or more labels below. */
  readonly name: string;
  readonly environmentId: string;
  /** Where visitors by http are sent: to the same name by https, or to the environment's primary one. Absent: they are answered. */
  readonly forceHttps?: "same" | "primary";
}

export interface EdgeTable {
  readonly generation: number;
  readonly environments: readonly EdgeEnvironment[];
  readonly hosts: readonly EdgeHost[];
  /** Names, like those of `hosts`, of environments that are not there yet. Absent: none. */
  readonly away?: readonly string[];
  /** Certificates that may be shown; where several fit a name, the first one that is valid now. */
  readonly certificates?: readonly EdgeCertificate[];
  /** What certificate authorities are answered below `/.well-known/acme-challenge/`. Absent: nothing. */
  readonly challenges?: readonly EdgeChallenge[];
}

export interface EdgeCertificate {
  readonly id: string;
  /** As they stand in it: `*.example.com` is for the names one label below. */
  readonly names: readonly string[];
  /** Milliseconds since 1970. */
  readonly notAfter: number;
}

export interface EdgeChallenge {
  /** The name that the authority asks at. */
  readonly host: string;
  /** The last part of the path. */
  readonly token: string;
  readonly content: string;
}
