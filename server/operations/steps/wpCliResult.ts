import type { WpCliOutcome } from "@sitewright/runtimes/runtime.ts";

/** What `data.result` is. */
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
