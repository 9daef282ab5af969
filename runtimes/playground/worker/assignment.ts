/**
 * Computes the order that assigns an environment to a PHP process: its folders on the host, and what its PHP may
 * connect to.
 */
import { realpathSync } from "node:fs";
import path from "node:path";
import { temporaryFolders } from "../../fileTree.ts";
import { defaultMemoryMb } from "../../memoryLimits.ts";
import { ownerOf, phpGroup } from "../../owner.ts";
import type { EnvironmentRef } from "../../runtime.ts";
import type { ServedEnvironment, ServedLimits } from "../../serving.ts";
import { releaseFolder } from "../../site/release.ts";
import { driverFolder } from "../../sqlite/driver.ts";
import type { AssignOrder } from "./messages.ts";

export interface AssignmentOptions {
  /** Folder of the asset store. */
  readonly assets: string;
  readonly environments: string;
  /** Folder of the socket on which the edge listens for PHP, `edgeSocketName`. */
  readonly run: string;
  /** Returns what shows the edge that a connection comes from this environment's PHP: one line. */
  readonly credentialOf: (environment: EnvironmentRef) => string;
  readonly edgePort: number;
  readonly siteSuffix: string;
  /** Addresses that PHP may not reach in addition to this host: `host:port` of a database on another machine. */
  readonly forbidden?: readonly string[];
  /** Services that PHP may reach only on a public address, `host:port`. */
  readonly internal?: readonly string[];
  /** Networks that PHP may reach although they are not public, such as `10.1.2.0/24`. */
  readonly mayReach?: readonly string[];
  /** URL of the package source; null: none. Absent: WordPress.org. */
  readonly packageSource?: string | null;
  /** Whether PHP may connect to mail servers. Absent: false. */
  readonly maySendMail?: boolean;
  /** How much of the disk must stay free. Absent: nothing. */
  readonly diskReserveBytes?: number;
}

/** Name of the socket in the folder `run`. */
export const edgeSocketName = "edge-loopback.sock";

const wordPressOrg = "https://api.wordpress.org";

type AssignedEnvironment = Pick<
  ServedEnvironment,
  "id" | "number" | "release" | "documentRoot" | "overlays" | "isOffline"
> & { readonly limits?: Pick<ServedLimits, "memoryMb"> };

/** Returns the order. Throws if the environment or its release doesn't exist. */
export function assignmentOf(environment: AssignedEnvironment, options: AssignmentOptions): AssignOrder {
  const folder = realpathSync(path.join(options.environments, environment.id));
  // Each part of a release may be shared with another release.
  const database = realpathSync(path.join(releaseFolder(folder, environment.release), "database"));
  const group = phpGroup();
  const includes = environment.overlays["wp-includes"];
  return {
    type: "assign",
    environment: folder,
    folders: {
      documentRoot: path.relative(folder, environment.documentRoot),
      database: path.relative(folder, database),
      ...temporaryFolders,
      shared: includes === undefined ? null : { core: path.dirname(includes), driver: driverFolder(options.assets) },
    },
    owner: group === null ? null : { id: ownerOf(environment.number), phpGroup: group },
    network: {
      edgePort: options.edgePort,
      siteSuffix: options.siteSuffix,
      forbidden: options.forbidden ?? [],
      internal: options.internal ?? [],
      mayReach: options.mayReach ?? [],
      packageSource: options.packageSource === undefined ? wordPressOrg : options.packageSource,
      isOffline: environment.isOffline ?? false,
      // Each visitor's request sets it again.
      maySendMail: options.maySendMail ?? false,
      edgeSocket: path.join(options.run, edgeSocketName),
      credential: options.credentialOf(environment),
    },
    memoryMb: environment.limits?.memoryMb ?? defaultMemoryMb,
    diskReserveBytes: options.diskReserveBytes ?? 0,
  };
}
