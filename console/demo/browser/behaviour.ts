/** Makes the demo's API fail on request, so that people and tests see how the console shows it. */
import { errorResponse } from "../api/demoApi.ts";
import type { World } from "../world/world.ts";

export const behaviours = ["normal", "expired", "429", "500", "offline"] as const;

export type Behaviour = (typeof behaviours)[number];

export const isBehaviour = (name: unknown): name is Behaviour => behaviours.some((known) => known === name);

/** Seconds. */
const retryAfter = 2;

/**
 * The answer instead of the right one; null: the right one. Who has signed in can always be read, so that pages come at all.
 * `expired` ends the session with the next change. Throws what `fetch` throws if there is no connection.
 */
export function misbehave(world: World, behaviour: Behaviour, request: Request): Response | null {
  const isAboutSession = /\/v2\/sessions?$/.test(new URL(request.url).pathname);
  if (behaviour === "expired" && request.method !== "GET" && !isAboutSession) world.sessionId = null;
  if (behaviour === "offline") throw new TypeError("Failed to fetch");
  if (isAboutSession) return null;
  if (behaviour === "429") return errorResponse(429, null, { headers: { "retry-after": String(retryAfter) } });
  if (behaviour === "500") return errorResponse(500, { reference_id: "0b0f3a52-6d2c-4b57-9a3a-7a5a4a0a2a53" });
  return null;
}
