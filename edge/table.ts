/**
 * What the edge is told: one whole table, never a change to it. The edge keeps the table with the highest
 * generation it has seen, in memory and in a file, and needs nobody to serve from it.
 */

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
  /** Whether PHP reaches nothing outside of the environment, this edge included; false where it is left out. */
  readonly isOffline?: boolean;
}

export interface EdgeHost {
  /** Lower case, without port; `*.example.com` stands for every name one or more labels below. */
  readonly name: string;
  readonly environmentId: string;
}

export interface EdgeTable {
  readonly generation: number;
  readonly environments: readonly EdgeEnvironment[];
  readonly hosts: readonly EdgeHost[];
  /** Names, like those of `hosts`, of environments that are not there yet. Absent: none. */
  readonly away?: readonly string[];
}
