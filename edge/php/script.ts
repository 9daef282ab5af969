/** The PHP script that answers a request. */
import type { UpstreamTask } from "./upstream.ts";

export interface Script {
  readonly script: string;
  readonly pathInfo: string;
  /** Asked instead of what the visitor sent, in the name of all who ask the same. */
  readonly page?: SharedAsk;
  /** Runs instead of the script, and is told nothing of what the visitor sent but who they are. */
  readonly task?: UpstreamTask;
}

/** A page that many visitors get. */
export interface SharedAsk {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
}
