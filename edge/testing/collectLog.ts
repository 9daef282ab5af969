import type { EdgeLog } from "../logs/edgeLog.ts";

export interface Logged {
  readonly level: string;
  readonly facts: object;
  readonly message: string;
}

/** A log that appends its lines to the array. */
export function collectLog(logged: Logged[]): EdgeLog {
  const at = (level: string) => (facts: object, message: string) => {
    logged.push({ level, facts, message });
  };
  return { debug: at("debug"), info: at("info"), warn: at("warn"), error: at("error") };
}
