/** Turns failures of all kinds into the API's errors. */

import { type ErrorStatus, errorMessages } from "@sitewright/contract/errors.ts";
import {
  AddressNotAllowed,
  Busy,
  CrossSiteRequest,
  DatabaseUnavailable,
  NotAllowed,
  NotFound,
  OutcomeUnknown,
  PasswordChangeRequired,
  QueueFull,
  Refused,
  SecondFactorRequired,
  TooManyMails,
  TooManyStreams,
} from "@sitewright/server/app/failures.ts";
import { busyData } from "@sitewright/server/app/operations.ts";
import { Malformed } from "./reading/malformed.ts";

/** A failure at the level of HTTP, such as an unknown path. */
export class HttpFailure extends Error {
  override readonly name = "HttpFailure";
  readonly status: ErrorStatus;
  readonly headers: Readonly<Record<string, string>>;
  constructor(
    status: ErrorStatus,
    headers: Readonly<Record<string, string>> = {},
    message: string = errorMessages[status],
  ) {
    super(message);
    this.status = status;
    this.headers = headers;
  }
}

export interface ErrorAnswer {
  readonly status: ErrorStatus;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: { readonly message: string; readonly status: ErrorStatus; readonly data: unknown };
}

export function errorAnswer(
  status: ErrorStatus,
  data: unknown = null,
  options: { readonly message?: string; readonly headers?: Readonly<Record<string, string>> } = {},
): ErrorAnswer {
  const message = options.message ?? errorMessages[status];
  return { status, headers: options.headers ?? {}, body: { message, status, data } };
}

/** How long a client should wait before it asks for a place in the queue again. */
const queueSeconds = 30;

const choosePassword = "Choose a new password first: PUT /v2/session/password.";
const addSecondFactor = "Your company requires a second factor. Add one first: POST /v2/session/second-factor.";
const notFromHere =
  "Requests with a session must come from a page of this origin: Sec-Fetch-Site or Origin says otherwise, or is missing. Programs use an API key instead.";

/** The error response if the client caused the failure; null for an internal error. */
export function answerToClientError(error: unknown): ErrorAnswer | null {
  if (error instanceof Malformed) return errorAnswer(400, { errors: error.faults });
  if (error instanceof Refused)
    return errorAnswer(400, { code: error.code, ...error.details }, { message: error.message });
  if (error instanceof Busy) return errorAnswer(409, busyData(error.blockedBy), { message: error.message });
  if (error instanceof QueueFull) return errorAnswer(429, null, { headers: { "retry-after": String(queueSeconds) } });
  if (error instanceof TooManyStreams) {
    return errorAnswer(429, null, { message: error.message, headers: { "retry-after": String(queueSeconds) } });
  }
  if (error instanceof TooManyMails) {
    return errorAnswer(429, null, { message: error.message, headers: { "retry-after": String(error.seconds) } });
  }
  if (error instanceof NotFound) return errorAnswer(404);
  if (error instanceof NotAllowed) return errorAnswer(403, { code: "scope_missing", needs: error.needs });
  if (error instanceof PasswordChangeRequired) {
    return errorAnswer(403, { code: "password_change_required" }, { message: error.message || choosePassword });
  }
  if (error instanceof SecondFactorRequired) {
    return errorAnswer(403, { code: "second_factor_required" }, { message: addSecondFactor });
  }
  if (error instanceof CrossSiteRequest) {
    return errorAnswer(403, { code: "cross_site_request" }, { message: notFromHere });
  }
  if (error instanceof AddressNotAllowed) {
    const data = { code: "address_not_allowed", address: error.address };
    return errorAnswer(403, data, { message: error.message });
  }
  if (error instanceof HttpFailure) return errorAnswer(error.status, null, error);
  return answerToFastifyError(error);
}

const retrySeconds = 5;
const unknownOutcome =
  "The connection to the database was lost at the moment when the change was to become permanent, so it may have been made. Check before you repeat it.";

/** The error response if the database can't be reached and nothing was changed, or null. */
export function answerToOutage(error: unknown): ErrorAnswer | null {
  if (!(error instanceof DatabaseUnavailable)) return null;
  return errorAnswer(503, null, { headers: { "retry-after": String(retrySeconds) } });
}

/** The error response to any other failure, whose cause is in the log under this id. */
export function answerToInternalError(error: unknown, referenceId: string): ErrorAnswer {
  const data = { reference_id: referenceId };
  return errorAnswer(500, data, error instanceof OutcomeUnknown ? { message: unknownOutcome } : {});
}

/** The error response to a request that Fastify refused, or null. */
function answerToFastifyError(error: unknown): ErrorAnswer | null {
  const status = error instanceof Error && "statusCode" in error ? error.statusCode : null;
  if (status === 413 || status === 415) return errorAnswer(status);
  if (typeof status !== "number" || status < 400 || status >= 500) return null;
  return errorAnswer(400, { errors: [{ path: "", message: "could not be read as an HTTP request" }] });
}
