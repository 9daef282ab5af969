/** Reads the edge's status from its admin socket. */
import { request } from "node:http";
import { json } from "node:stream/consumers";

interface EdgeStatus {
  /** PHP workers of sites. */
  readonly workers: readonly unknown[];
  /** Number of prepared workers. */
  readonly preparedWorkers: number;
  /** `compiledPhpVersions`: versions that WordPress is compiled for. */
  readonly machinery: { readonly compiledPhpVersions: readonly string[] };
}

/** Rejects if the edge does not listen or its response is invalid. */
export function edgeStatus(adminSocket: string): Promise<EdgeStatus> {
  return new Promise((resolve, reject) => {
    request({ socketPath: adminSocket, path: "/status", agent: false }, (incoming) => {
      json(incoming).then((status) => {
        if (isEdgeStatus(status)) resolve(status);
        else reject(new Error(`The edge answered ${JSON.stringify(status)}`));
      }, reject);
    })
      .on("error", reject)
      .end();
  });
}

function isEdgeStatus(value: unknown): value is EdgeStatus {
  if (typeof value !== "object" || value === null) return false;
  if (!("workers" in value && "preparedWorkers" in value && "machinery" in value)) return false;
  return Array.isArray(value.workers) && typeof value.preparedWorkers === "number" && isMachinery(value.machinery);
}

function isMachinery(value: unknown): value is EdgeStatus["machinery"] {
  if (typeof value !== "object" || value === null || !("compiledPhpVersions" in value)) return false;
  return Array.isArray(value.compiledPhpVersions);
}
