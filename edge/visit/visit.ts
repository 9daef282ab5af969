/** One request on its way through the edge. */

import type { Body } from "../bodies/bodyStore.ts";
import type { VisitorPath } from "../http/path.ts";
import type { VisitorRequest, VisitorResponse } from "../http/visitorHttp.ts";
import type { Route } from "../tables/routes.ts";
import type { PageRequest } from "./pageRequest.ts";
import type { Sender } from "./sender.ts";

export interface Visit extends Sender {
  readonly request: VisitorRequest;
  readonly response: VisitorResponse;
  /** The request's body, complete. Null if it has none, or has not been received yet. */
  readonly body: Body | null;
  readonly route: Route;
  readonly path: VisitorPath;
  /** As sent by the visitor, including the port. */
  readonly host: string;
  readonly https: boolean;
  /** Null if the response may be private. */
  readonly pageRequest: PageRequest | null;
}
