/** What a task in a site's WordPress came to. The site's own word: whatever is in it may be wrong. */
import type { TaskResult } from "@sitewright/server/operations/steps/siteTasks.ts";

export type TaskAnswer =
  | { readonly kind: "answer"; readonly value: Readonly<Record<string, unknown>> }
  /** Nothing was begun, and the same may work in a moment. */
  | { readonly kind: "busy" }
  /** It was started, and how far it got is unknown. */
  | { readonly kind: "unknown" }
  /** `sentence` is for the customer, and so is the beginning of PHP's log. */
  | { readonly kind: "failed"; readonly sentence: string; readonly log: string };

const notBegun = new Set(["busy", "frozen", "unavailable"]);

export function readTaskAnswer({ status, body, errors, reason }: TaskResult): TaskAnswer {
  if (reason !== null) {
    if (notBegun.has(reason)) return { kind: "busy" };
    if (reason !== "crashed") return { kind: "unknown" };
    return { kind: "failed", sentence: "PHP broke down. `log` has what it wrote before.", log: errors };
  }
  const value = objectIn(body);
  if (value !== null) return { kind: "answer", value };
  const sentence = `WordPress answered something else, with the status ${status}: a plugin or theme has ended it. \`log\` has what PHP wrote.`;
  return { kind: "failed", sentence, log: errors };
}

function objectIn(body: string | null): Readonly<Record<string, unknown>> | null {
  if (body === null) return null;
  try {
    const value: unknown = JSON.parse(body);
    return typeof value === "object" && value !== null ? { ...value } : null;
  } catch {
    return null;
  }
}
