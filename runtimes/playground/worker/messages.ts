/** Orders from the edge process to a worker, on Node's channel. Requests travel as frames instead. */
import type { SiteFolders } from "../php/site.ts";
import type { NetworkRules } from "../php/socket.ts";
import type { Compiled } from "../templates/compiled.ts";
import type { WarmUp } from "../templates/warmUp.ts";

export interface BootOrder {
  readonly type: "boot";
  readonly phpVersion: string;
  /** What is compiled already, or null. */
  readonly compiled: Compiled | null;
  /** Folder where Node keeps our own code compiled from one worker to the next. */
  readonly codeCache: string;
  /** The largest upload, in bytes, that reaches PHP; WordPress shows it. Absent: PHP's own limit of 256 MB. */
  readonly uploadBytes?: number;
}

/** For a worker that is not needed yet: pages of a pristine WordPress fill its opcode cache. */
export interface WarmOrder extends WarmUp {
  readonly type: "warm";
}

export interface AssignOrder {
  readonly type: "assign";
  /** `core`, where there is one, is absolute; the other folders are relative to `environment`. */
  readonly folders: SiteFolders;
  /** Folder of the environment, absolute. */
  readonly environment: string;
  /** User and group to become, or null to stay who we are. */
  readonly owner: number | null;
  readonly network: NetworkRules;
  /** What PHP's `memory_limit` is. */
  readonly memoryMb: number;
}

export type Order = BootOrder | WarmOrder | AssignOrder;

export type Report = { readonly type: "ready" | "warm" } | { readonly type: "failed"; readonly reason: string };
