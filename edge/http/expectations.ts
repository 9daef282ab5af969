/** `Expect: 100-continue`: a visitor sends a body only when told that it is wanted (RFC 9110, section 10.1.1). */
import type { VisitorRequest } from "./visitorHttp.ts";

type Request = Pick<VisitorRequest, "headers">;

const waiting = new WeakMap<Request, () => void>();

/** Notes that the visitor waits. `send` sends "100 Continue". */
export function expectContinue(request: Request, send: () => void): void {
  waiting.set(request, send);
}

/** Tells a waiting visitor to send the body. Call when there is room for it. */
export function askForBody(request: Request): void {
  const send = waiting.get(request);
  waiting.delete(request);
  send?.();
}

/** Whether the visitor still waits, so that no body is on its way. */
export function isWaiting(request: Request): boolean {
  return waiting.has(request);
}
