/** The CGI variables of a request. */
import { taskScript } from "../../phpFolders.ts";
import { headersForPhp, requestVariables } from "../../pool/requestVariables.ts";
import type { WorkerRequest } from "../../pool/worker.ts";

interface ParameterOptions {
  /** The length of the body, without which PHP reads none. */
  readonly bodyBytes: number;
  /** Where the platform's PHP sends its messages: a path in the sandbox. */
  readonly messageSocket: string;
  /** The prefix of its messages. */
  readonly messageToken: string;
  /** PHP's time limit. */
  readonly seconds: number;
}

export function parametersOf(
  request: WorkerRequest,
  { bodyBytes, messageSocket, messageToken, seconds }: ParameterOptions,
): Record<string, string> {
  const { method, url, task } = request;
  const query = url.indexOf("?");
  const { "content-type": contentType, "content-length": _, ...headers } = headersForPhp(request);
  return {
    ...requestVariables(request),
    REQUEST_METHOD: method,
    REQUEST_URI: url,
    QUERY_STRING: query < 0 ? "" : url.slice(query + 1),
    ...(contentType !== undefined && { CONTENT_TYPE: contentType }),
    ...(bodyBytes > 0 && { CONTENT_LENGTH: String(bodyBytes) }),
    ...Object.fromEntries(Object.entries(headers).map(([name, value]) => [variableOf(name), value])),
    ...(task !== null && { SCRIPT_FILENAME: taskScript(task) }),
    SITEWRIGHT_SOCKET: messageSocket,
    SITEWRIGHT_TOKEN: messageToken,
    PHP_VALUE: `max_execution_time=${Math.ceil(seconds)}`,
  };
}

function variableOf(header: string): string {
  return `HTTP_${header.toUpperCase().replaceAll("-", "_")}`;
}
