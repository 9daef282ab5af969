import type { WpCliOutcome } from "@sitewright/runtimes/runtime.ts";

/** The `data.result` of a WP-CLI operation. */
export interface WpCliResult {
  readonly stdout: string;
  readonly stderr: string;
  readonly exit_code: number | null;
  readonly ended_by: WpCliOutcome["end"];
  readonly stdout_bytes: number;
  readonly stderr_bytes: number;
  readonly stdout_truncated: boolean;
  readonly stderr_truncated: boolean;
}
