/** The edge's own log. */
import type { EnvironmentLogs } from "./environmentLogs.ts";

/** The part of a pino logger that the edge uses. */
export interface EdgeLog {
  debug(facts: object, message: string): void;
  info(facts: object, message: string): void;
  warn(facts: object, message: string): void;
  error(facts: object, message: string): void;
}

export interface RequestLogs {
  /** Logs of environments, for their owners. */
  readonly logs: EnvironmentLogs;
  /** The edge's own log. */
  readonly log: EdgeLog;
}
