/** One request on its way through the edge, and what the edge itself needs to answer any. */
import type { PageAsk } from "./cache/pageAsk.ts";
import type { PageCache } from "./cache/pageCache.ts";
import type { KeptFiles } from "./files/keptFiles.ts";
import type { VisitorPath } from "./http/path.ts";
import type { VisitorRequest, VisitorResponse } from "./http/visitorHttp.ts";
import type { Logins } from "./login/logins.ts";
import type { EnvironmentLogs } from "./logs/environmentLogs.ts";
import type { Collapse } from "./php/collapse.ts";
import type { Turns } from "./php/turns.ts";
import type { Upstream } from "./php/upstream.ts";
import type { Writes } from "./php/writes.ts";
import type { RedirectVisit } from "./redirectVisits.ts";
import type { Route, Routes } from "./tables/routes.ts";
import type { Traffic } from "./traffic.ts";

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
  /** Null where the answer may be for this visitor alone. */
  readonly page: PageAsk | null;
}

export interface Limits {
  readonly uploadBytes: number;
  /** Within which the head of a request must have come. */
  readonly headSeconds: number;
  /** Within which the whole request must have come, upload included. */
  readonly requestSeconds: number;
  /** After which a connection on which nothing moves is closed; longer than PHP may take for an answer. */
  readonly silenceSeconds: number;
  /** For which what PHP has begun is waited for when its environment is frozen. */
  readonly freezeSeconds: number;
  /** For which a visitor waits whose page can't be made while its environment is frozen. */
  readonly holdSeconds: number;
}

/** The part of a pino logger that the edge uses. */
export interface EdgeLog {
  debug(facts: object, message: string): void;
  info(facts: object, message: string): void;
  warn(facts: object, message: string): void;
  error(facts: object, message: string): void;
}

export interface EdgeParts {
  readonly routes: Routes;
  readonly upstream: Upstream;
  readonly writes: Writes;
  readonly collapse: Collapse;
  readonly pageCache: PageCache;
  readonly keptFiles: KeptFiles;
  readonly turns: Turns;
  readonly traffic: Traffic;
  readonly logins: Logins;
  readonly redirectVisit: RedirectVisit;
  readonly limits: Limits;
  /** Of the environments, for those who look after them. */
  readonly logs: EnvironmentLogs;
  readonly log: EdgeLog;
  /** Where visitors come by TLS; null: nowhere. */
  readonly tlsPort: () => number | null;
  /** Whether who came by TLS with one name may ask for the other there. */
  readonly areTogether: (shown: string, asked: string) => boolean;
}
