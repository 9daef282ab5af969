/** Reads the result of a task in a site's WordPress. The answer comes from the site's code, so it can't be trusted. */
import type { TaskResult } from "@sitewright/server/operations/steps/siteTasks.ts";

export type TaskAnswer =
  | { readonly kind: "answer"; readonly value: Readonly<Record<string, unknown>> }
  /** The task was not started; a retry may work soon. */
  | { readonly kind: "busy" }
  /** The task was started, but its outcome is unknown. */
  | { readonly kind: "unknown" }
  /** `message` and `log`, the beginning of PHP's log, are shown to the user. */
  | { readonly kind: "failed"; readonly message: string; readonly log: string };

const diskFull =
  "WordPress could not write: the environment is far above its disk quota, or the server's disk is nearly full. Raise the quota, or ask the operator.";
const notStarted = new Set(["busy", "frozen", "unavailable"]);

export function readTaskAnswer({ status, body, errors, reason }: TaskResult): TaskAnswer {
  if (reason !== null) {
    if (notStarted.has(reason)) return { kind: "busy" };
    if (reason === "diskFull") return { kind: "failed", message: diskFull, log: errors };
    if (reason !== "crashed") return { kind: "unknown" };
    return { kind: "failed", message: "PHP crashed. `log` has its output.", log: errors };
  }
  const value = parseObject(body);
  if (value !== null) return { kind: "answer", value };
  const message = `WordPress gave an unexpected answer with the status ${status}. Probably a plugin or theme has ended the request; \`log\` has the output of PHP.`;
  return { kind: "failed", message, log: errors };
}

function parseObject(body: string | null): Readonly<Record<string, unknown>> | null {
  if (body === null) return null;
  try {
    const value: unknown = JSON.parse(body);
    return typeof value === "object" && value !== null ? { ...value } : null;
  } catch {
    return null;
  }
}
