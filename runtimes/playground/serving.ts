/** The playground runtime, its serving side: the workers that run PHP, as children of this process. */
import type { Serving } from "../runtime.ts";

export interface PlaygroundServingOptions {
  readonly assets: string;
  readonly environments: string;
  /** Folder of sockets; the edge listens on `edge-loopback.sock` in it for requests that PHP makes. */
  readonly run: string;
  /** The edge's port, asked when a worker gets its environment: with port 0 it is known only after listening. */
  readonly edgePort: () => number;
  readonly siteSuffix: string;
  readonly spareWorkers: number;
  /** Workers with an environment, at most. */
  readonly maxWorkers: number;
  readonly requestDeadlineSeconds: number;
  /** A worker without a request for so long is ended. */
  readonly idleSeconds: number;
  /** Places that PHP may not reach besides this host: `host:port` of a database on another machine. */
  readonly forbidden?: readonly string[];
}

export interface WorkerStatus {
  readonly pid: number;
  readonly environmentId: string;
  readonly release: number;
  readonly requests: number;
  readonly busy: boolean;
  readonly rssBytes: number;
}

export interface PlaygroundServing extends Serving {
  status(): { readonly workers: readonly WorkerStatus[]; readonly spares: number };
}

export function createPlaygroundServing(_options: PlaygroundServingOptions): PlaygroundServing {
  throw new Error("not yet");
}
