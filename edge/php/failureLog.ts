/** Logs PHP failures. */
import type { RequestLogs } from "../logs/edgeLog.ts";
import { withoutSecrets } from "../logs/masks.ts";
import type { Visit } from "../visit/visit.ts";
import { type NoAnswerReason, reasonOf } from "./upstream.ts";

const explanations: Record<NoAnswerReason, string> = {
  busy: "too many other requests were waiting",
  deadline: "it exceeded the time limit and was stopped",
  crashed: "it stopped unexpectedly",
  unavailable: "it could not be started",
  wouldWrite: "it tried to write while the environment was frozen",
  diskFull:
    "it tried to write to a full disk. Raise the quota, remove files, or ask the operator whether the server's disk is full",
};

/** Logs why a visitor got no page or an incomplete one. */
export function logVisitFailure({ request, route, path }: Visit, error: unknown, parts: RequestLogs): void {
  logPhpFailure(route.environment.id, `${request.method} ${withoutSecrets(path.url)}`, error, parts);
}

/** Logs a PHP failure. `description` names the request and must contain no secrets. */
export function logPhpFailure(
  environmentId: string,
  description: string,
  error: unknown,
  { logs, log }: RequestLogs,
): void {
  const reason = reasonOf(error);
  logs.error(environmentId, `PHP did not complete ${description}: ${reason}, ${explanations[reason]}`);
  log.warn({ environment: environmentId, reason, err: error }, "PHP gave no complete response");
}
