/** The person who runs a command, as the operator's activity log names them. */
import { userInfo } from "node:os";
import { systemActor } from "../store/company/activity.ts";
import type { Actor } from "../store/database.ts";

/** The account of this process, and the one behind `sudo`. */
export function operatorActor(env: NodeJS.ProcessEnv = process.env): Actor {
  const own = accountName();
  const behind = env.SUDO_USER;
  return { ...systemActor, userFullName: behind === undefined || behind === own ? own : `${own} (${behind})` };
}

/** A process may run under a number without an account. */
function accountName(): string {
  try {
    return userInfo().username;
  } catch {
    return String(process.getuid?.() ?? "unknown");
  }
}
