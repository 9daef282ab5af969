import type { WorkerRequest } from "./worker.ts";

/**
 * Whether a request may have made a change on purpose: by someone who is logged in, or without a visitor. Others may be killed
 * at will by visitors, and change little that pages show.
 */
export function mayEdit({ headers, script, task }: Pick<WorkerRequest, "headers" | "script" | "task">): boolean {
  if (task !== null || script.endsWith("/wp-cron.php") || headers.authorization !== undefined) return true;
  return String(headers.cookie ?? "").includes("wordpress_logged_in_");
}
