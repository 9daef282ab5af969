/** Receives a request's body, or answers the request if that fails. */
import type { UploadLimits } from "../http/limits.ts";
import { makePage } from "../http/pages.ts";
import { refuseBody, refuseUpload, UploadTooLarge } from "../http/uploads.ts";
import type { VisitorRequest, VisitorResponse } from "../http/visitorHttp.ts";
import { type Bodies, TooSlow, VisitorLeft } from "./bodies.ts";
import { type Body, NoRoom } from "./bodyStore.ts";
import type { Claimant } from "./budget.ts";

interface Incoming {
  readonly request: VisitorRequest;
  readonly response: VisitorResponse;
}

interface ReceiveParts {
  readonly bodies: Bodies;
  readonly limits: UploadLimits;
  readonly log: { error(facts: { readonly err: unknown }, message: string): void };
}

/**
 * Null if the request has been answered. `format` has the `Accept` header that chooses the format of the edge's pages.
 */
export async function receiveBody(
  { request, response }: Incoming,
  claimant: Claimant,
  format: Pick<VisitorRequest, "headers">,
  { bodies, limits, log }: ReceiveParts,
): Promise<Body | null> {
  try {
    return await bodies.receive(request, claimant);
  } catch (error) {
    if (error instanceof VisitorLeft) response.destroy();
    else if (error instanceof UploadTooLarge) await refuseUpload(request, response, limits);
    else if (error instanceof TooSlow) await refuseBody(request, response, makePage(format, "uploadTooSlow"));
    else {
      if (!(error instanceof NoRoom)) log.error({ err: error }, "A request's body could not be stored");
      await refuseBody(request, response, makePage(format, "tooManyUploads"));
    }
    return null;
  }
}
