/** The PHP script that answers a request. */
import type { UpstreamTask } from "./upstream.ts";

export interface Script {
  readonly script: string;
  readonly pathInfo: string;
  /** Sent to PHP instead of the visitor's request, for a page that is shared. */
  readonly page?: SharedRequest;
  /** Runs instead of the script. Of the visitor's request it gets only the headers that identify the visitor. */
  readonly task?: UpstreamTask;
}

/** The request for a public page. */
export interface SharedRequest {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
}
