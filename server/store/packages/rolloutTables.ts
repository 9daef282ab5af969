/** Tables of newer versions that go to many environments (`rollouts.ts`). */
import type { ColumnType, Generated } from "kysely";
import type { Actor } from "../company/activity.ts";
import type { PackageKind } from "../database.ts";

/** `stopped`: too many had failed. */
export type RolloutState = "running" | "stopped" | "cancelled" | "ended";
export type RolloutItemState = "waiting" | "running" | "updated" | "failed" | "skipped";

export interface Rollouts {
  id: string;
  company_id: string;
  kind: PackageKind;
  /** Slug. */
  name: string;
  /** Null: for each the newest that it is offered. */
  version: string | null;
  concurrency: number;
  /** How many are updated before the others. */
  canaries: number;
  stop_after_failures: number;
  state: Generated<RolloutState>;
  /** Who asked for it. */
  actor: ColumnType<Actor, string, string>;
  created_at: Generated<Date>;
  /** When the last of its updates had ended. */
  ended_at: ColumnType<Date | null, undefined, Date>;
}

type Later<T> = ColumnType<T | null, T | null | undefined, T | null>;

export interface RolloutItems {
  rollout_id: string;
  environment_id: string;
  position: number;
  is_canary: boolean;
  state: Generated<RolloutItemState>;
  operation_id: Later<string>;
  from_version: Later<string>;
  to_version: Later<string>;
  /** Why it failed, or was skipped. */
  reason: Later<string>;
  ended_at: Later<Date>;
}
