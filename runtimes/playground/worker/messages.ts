/** Orders from the edge process to a worker, passed on by the launcher. Requests travel as frames instead. */

import type { UploadLimits } from "../../serving.ts";
import type { SiteFolders } from "../php/site.ts";
import type { NetworkRules } from "../php/socket.ts";
import type { Compiled } from "../templates/compiled.ts";
import type { WarmUp } from "../templates/warmUp.ts";

export interface BootOrder {
  readonly type: "boot";
  readonly phpVersion: string;
  /** Compiled code, or null if there is none. */
  readonly compiled: Compiled | null;
  /** Folder in which Node caches our compiled code across workers. */
  readonly codeCache: string;
  /** Folder of PHP's further extensions. Null or absent: none. */
  readonly extensions?: string | null;
  /** Absent: PHP's own defaults. */
  readonly uploads?: UploadLimits;
}

/** Warms up a worker that is not needed yet: pages of a pristine WordPress fill its opcode cache. */
export interface WarmOrder extends WarmUp {
  readonly type: "warm";
}

/** The user of an environment. */
export interface Owner {
  /** User and group id. */
  readonly id: number;
  /** Further group, which may connect to the edge. */
  readonly phpGroup: number;
}

export interface AssignOrder {
  readonly type: "assign";
  /** The shared folders are absolute; the other folders are relative to `environment`. */
  readonly folders: SiteFolders;
  /** Absolute path of the environment's folder. */
  readonly environment: string;
  /** Null: the process keeps its user. */
  readonly owner: Owner | null;
  readonly network: NetworkRules;
  /** PHP's `memory_limit`. */
  readonly memoryMb: number;
  /** How much of the disk must stay free. */
  readonly diskReserveBytes: number;
}

export type Order = BootOrder | WarmOrder | AssignOrder;

export type Report = { readonly type: "ready" | "warm" } | { readonly type: "failed"; readonly reason: string };
