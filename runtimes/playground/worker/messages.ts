/** Orders from the edge process to a worker, on Node's channel. Requests travel as frames instead. */
import type { SiteFolders } from "../php/site.ts";
import type { NetworkRules } from "../php/socket.ts";

export interface BootOrder {
  readonly type: "boot";
  readonly phpVersion: string;
  /** Folder of scripts that are compiled already (`templates/opcodes.ts`), or null. */
  readonly opcodes: string | null;
  /** Folder where Node keeps our own code compiled from one worker to the next. */
  readonly codeCache: string;
  /** A pristine WordPress whose pages fill the opcode cache, or null for a worker that is needed at once. */
  readonly warmUp: WarmUp | null;
}

export interface WarmUp {
  readonly template: string;
  readonly core: string;
}

export interface AssignOrder {
  readonly type: "assign";
  /** `core` is absolute; the other folders are relative to `environment`. */
  readonly folders: SiteFolders;
  /** Folder of the environment, absolute. */
  readonly environment: string;
  /** User and group to become, or null to stay who we are. */
  readonly owner: number | null;
  readonly network: NetworkRules;
}

export type Order = BootOrder | AssignOrder;

export type Report = { readonly type: "ready" } | { readonly type: "failed"; readonly reason: string };
