/** Marks environments that are being written to, so that cached pages don't outlive a crash in the middle of a change. */
import { hasLoginCookie } from "../http/cookies.ts";
import type { Visit } from "../visit/visit.ts";

export interface WriteMarkers {
  /** Marks a write that lasts until the returned function is called. */
  beginWrite(environmentId: string): () => void;
}

/** Like `beginWrite`, if the visit may change something although it only reads: links in the dashboard do. */
export function markVisit({ request, route }: Pick<Visit, "request" | "route">, markers: WriteMarkers): () => void {
  return hasLoginCookie(request.headers.cookie) ? markers.beginWrite(route.environment.id) : () => undefined;
}
