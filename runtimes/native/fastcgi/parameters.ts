/** The CGI variables of a request. */
import { headersForPhp, requestVariables } from "../../pool/requestVariables.ts";
import type { WorkerRequest } from "../../pool/worker.ts";

/** `bodyBytes`: the length of the body, without which PHP reads none. */
export function parametersOf(request: WorkerRequest, bodyBytes: number): Record<string, string> {
  const { method, url } = request;
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
  };
}

function variableOf(header: string): string {
  return `HTTP_${header.toUpperCase().replaceAll("-", "_")}`;
}
