/** Where an environment is on the host, and what its PHP may reach: what a process must be told that runs PHP for it. */
import { realpathSync } from "node:fs";
import path from "node:path";
import type { ServedEnvironment, ServedLimits } from "../../serving.ts";
import { usualMemoryMb } from "../pool/limits.ts";
import { ownerOf, releaseFolder } from "../site/release.ts";
import type { AssignOrder } from "./messages.ts";

export interface AssignmentOptions {
  readonly environments: string;
  /** Folder of sockets; the edge listens on `edge-loopback.sock` in it for requests that PHP makes. */
  readonly run: string;
  readonly edgePort: number;
  readonly siteSuffix: string;
  /** Places that PHP may not reach besides this host: `host:port` of a database on another machine. */
  readonly forbidden?: readonly string[];
  /** Where WordPress's plugins, themes and updates are; null: nowhere. Absent: at WordPress.org. */
  readonly packageSource?: string | null;
  /** Absent: it may not. */
  readonly maySendMail?: boolean;
}

const wordPressOrg = "https://api.wordpress.org";

export type AssignedEnvironment = Pick<
  ServedEnvironment,
  "id" | "number" | "release" | "documentRoot" | "overlays" | "isOffline"
> & { readonly limits?: Pick<ServedLimits, "memoryMb"> };

/** Throws if the environment or its release is not there. */
export function assignmentOf(environment: AssignedEnvironment, options: AssignmentOptions): AssignOrder {
  const folder = realpathSync(path.join(options.environments, environment.id));
  // Either part of a release may be another release's.
  const database = realpathSync(path.join(releaseFolder(folder, environment.release), "database"));
  const includes = environment.overlays["wp-includes"];
  return {
    type: "assign",
    environment: folder,
    folders: {
      documentRoot: path.relative(folder, environment.documentRoot),
      database: path.relative(folder, database),
      sessions: "sessions",
      core: includes === undefined ? null : path.dirname(includes),
    },
    owner: process.getuid?.() === 0 ? ownerOf(environment.number) : null,
    network: {
      edgePort: options.edgePort,
      siteSuffix: options.siteSuffix,
      forbidden: options.forbidden ?? [],
      packageSource: options.packageSource === undefined ? wordPressOrg : options.packageSource,
      isOffline: environment.isOffline ?? false,
      // Each visitor's request sets it again.
      maySendMail: options.maySendMail ?? false,
      edgeSocket: path.join(options.run, "edge-loopback.sock"),
    },
    memoryMb: environment.limits?.memoryMb ?? usualMemoryMb,
  };
}
