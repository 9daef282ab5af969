/** One request on its way through the edge. */
import type { PageAsk } from "./cache/pageAsk.ts";
import type { VisitorPath } from "./http/path.ts";
import type { VisitorRequest, VisitorResponse } from "./http/visitorHttp.ts";
import type { Route } from "./tables/routes.ts";

export interface Visit {
  readonly request: VisitorRequest;
  readonly response: VisitorResponse;
  readonly route: Route;
  readonly path: VisitorPath;
  /** As the visitor wrote it, with port. */
  readonly host: string;
  readonly fromPhp: boolean;
  /** Whether the visitor came by TLS. */
  readonly https: boolean;
  /** Null if the answer may be for this visitor alone. */
  readonly page: PageAsk | null;
}
