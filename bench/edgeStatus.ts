/** What the edge says of itself on its admin socket. */
import { request } from "node:http";
import { json } from "node:stream/consumers";

export interface EdgeStatus {
  /** Warm workers that wait for an environment. */
  readonly spares: number;
  /** Versions of PHP for which everything is compiled. */
  readonly compiledPhpVersions: readonly string[];
}

/** Rejects if the edge does not listen or answers something else. */
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
  if (typeof value !== "object" || value === null || !("spares" in value && "compiledPhpVersions" in value))
    return false;
  return typeof value.spares === "number" && Array.isArray(value.compiledPhpVersions);
}
