/** The parts of an edge, created in `edge.ts`. Functions take only the parts that they use. */

import type { Analytics } from "./analytics/analytics.ts";
import type { AnswerTimes } from "./answerTimes.ts";
import type { ApiName } from "./api/apiName.ts";
import type { Bodies } from "./bodies/bodies.ts";
import type { PageCache } from "./cache/pageCache.ts";
import type { FolderAccess } from "./files/access/folderAccess.ts";
import type { FileCache } from "./files/fileCache.ts";
import type { Limits } from "./http/limits.ts";
import type { NetworkCounts } from "./http/networkCounts.ts";
import type { NetworkPace } from "./http/networkPace.ts";
import type { TrustedProxies } from "./http/trustedProxies.ts";
import type { LoginBrake } from "./login/loginBrake.ts";
import type { LoginEvents } from "./login/loginEvents.ts";
import type { Logins } from "./login/logins.ts";
import type { EdgeLog } from "./logs/edgeLog.ts";
import type { EnvironmentLogs } from "./logs/environmentLogs.ts";
import type { Coalescing } from "./php/coalescing.ts";
import type { FairQueue } from "./php/fairQueue.ts";
import type { UnreadResponses } from "./php/unreadResponses.ts";
import type { Upstream } from "./php/upstream.ts";
import type { Writes } from "./php/writes.ts";
import type { RedirectVisit } from "./redirectVisits.ts";
import type { Routes } from "./tables/routes.ts";

export interface EdgeParts {
  /** Null if the API has no name of its own. */
  readonly api: ApiName | null;
  readonly routes: Routes;
  readonly trustedProxies: TrustedProxies;
  /** Counts the open requests of visitors who come by a trusted proxy, whose connections are many visitors'. */
  readonly proxiedRequests: NetworkCounts;
  readonly upstream: Upstream;
  /** Pauses networks whose requests take long to parse. */
  readonly pace: NetworkPace;
  readonly bodies: Bodies;
  readonly unread: UnreadResponses;
  readonly writes: Writes;
  readonly coalescing: Coalescing;
  readonly pageCache: PageCache;
  readonly fileCache: FileCache;
  readonly folderAccess: FolderAccess;
  readonly fairQueue: FairQueue;
  readonly analytics: Analytics;
  readonly answerTimes: AnswerTimes;
  readonly logins: Logins;
  readonly loginBrake: LoginBrake;
  readonly loginEvents: LoginEvents;
  readonly redirectVisit: RedirectVisit;
  readonly limits: Limits;
  /** New sites get host names below it. */
  readonly siteSuffix: string;
  /** Writes the security.txt for names that belong to no site, or null. */
  readonly securityTxt: (() => string) | null;
  /** Access and error logs of environments, for their owners. */
  readonly logs: EnvironmentLogs;
  readonly log: EdgeLog;
  /** The HTTPS port in addresses, or null without TLS. */
  readonly publicTlsPort: () => number | null;
  /** Whether a TLS connection opened for the name `shown` may also request the name `asked`. */
  readonly sharesCertificate: (shown: string, asked: string) => boolean;
}
