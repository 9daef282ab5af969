/** What is said between the process that asks for a WP-CLI command and the one that runs it. */
import type { Compiled } from "../templates/compiled.ts";
import type { AssignOrder } from "../worker/messages.ts";

/** Boots PHP in the environment, up to the point where only the command is missing. */
export interface PrepareOrder {
  readonly type: "prepare";
  readonly phpVersion: string;
  /** What is compiled already, or null. */
  readonly compiled: Compiled | null;
  /** File on the host. */
  readonly wpCli: string;
  readonly assignment: AssignOrder;
  /** The command that will be run, without `wp` itself. */
  readonly argv: readonly string[];
  /** By how much files may grow; null: by anything. */
  readonly diskLeftBytes: number | null;
}

/** What became of the message that has waited longest; `refusal` is null if it is kept for good. */
export interface MailTakenOrder {
  readonly type: "mailTaken";
  readonly refusal: string | null;
}

export type Order = PrepareOrder | MailTakenOrder | { readonly type: "run" };

/** A message that PHP hands over to be sent. */
export interface MailReport {
  readonly type: "mail";
  readonly sender: string | null;
  /** In base64. */
  readonly message: string;
}

export type Report =
  | { readonly type: "prepared" }
  | MailReport
  | { readonly type: "ended"; readonly exitCode: number }
  | { readonly type: "failed"; readonly reason: string };
