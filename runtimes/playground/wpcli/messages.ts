/** Messages between the process that requests a WP-CLI command and the one that runs it. */
import type { UploadLimits } from "../../serving.ts";
import type { Compiled } from "../templates/compiled.ts";
import type { AssignOrder } from "../worker/messages.ts";

/** Boots PHP in the environment, up to the point where the command can start. */
export interface PrepareOrder {
  readonly type: "prepare";
  readonly phpVersion: string;
  /** Compiled code, or null if there is none. */
  readonly compiled: Compiled | null;
  /** Path of WP-CLI on the host. */
  readonly wpCli: string;
  readonly assignment: AssignOrder;
  /** The command that will be run, without `wp` itself. */
  readonly argv: readonly string[];
  /** Folder of PHP's further extensions. */
  readonly extensions: string;
  /** What WordPress is told about uploads, as in its dashboard. Absent: PHP's own defaults. */
  readonly uploads: UploadLimits | undefined;
  /** By how many bytes files may grow; null: unlimited. */
  readonly diskLeftBytes: number | null;
}

/** Result for the message that has waited longest; `refusal` is null if it is stored durably. */
export interface MailTakenOrder {
  readonly type: "mailTaken";
  readonly refusal: string | null;
}

/** Result of the nested command that has waited longest. */
export interface NestedEndedOrder {
  readonly type: "nestedEnded";
  readonly stdout: string;
  readonly stderr: string;
  readonly exitCode: number;
  /** By how many bytes the command has made files longer. */
  readonly grownBytes: number;
}
export type Order = PrepareOrder | MailTakenOrder | NestedEndedOrder | { readonly type: "run" };

/** An e-mail that PHP sends. */
export interface MailReport {
  readonly type: "mail";
  readonly sender: string | null;
  /** Base64. */
  readonly message: string;
}

/** Requests another WP-CLI command, as `WP_CLI::runcommand` does by default. PHP waits meanwhile. */
export interface NestedReport {
  readonly type: "nested";
  readonly argv: readonly string[];
  /** By how many bytes files have grown so far. */
  readonly grownBytes: number;
}
export interface EndedReport {
  readonly type: "ended";
  readonly exitCode: number;
  readonly grownBytes: number;
  readonly mayHaveChanged: boolean;
}

export type Report =
  | { readonly type: "prepared" }
  | MailReport
  | NestedReport
  | EndedReport
  | { readonly type: "failed"; readonly reason: string };
