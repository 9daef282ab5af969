/**
 * Errors with which a rule rejects a request. They don't know HTTP: `server/http` maps each class to a status. Any other
 * error is a bug.
 */

import { environmentBusyMessage } from "@sitewright/contract/operationKinds.ts";
import type { RefusalCode } from "@sitewright/contract/refusals.ts";

export { afterChange, DatabaseUnavailable, OutcomeUnknown } from "@sitewright/server/store/outages.ts";

/** The request is well formed but can't be carried out. */
export class Refused extends Error {
  override readonly name = "Refused";
  readonly code: RefusalCode;
  /** Machine-readable details of the error. */
  readonly details: Readonly<Record<string, unknown>>;
  constructor(code: RefusalCode, message: string, details: Readonly<Record<string, unknown>> = {}) {
    super(message);
    this.code = code;
    this.details = details;
  }
}

/** Another operation holds the environment, and the caller did not ask to be queued. */
export class Busy extends Error {
  override readonly name = "Busy";
  readonly blockedBy: readonly { readonly id: string; readonly kind: string }[];
  constructor(blockedBy: Busy["blockedBy"]) {
    super(environmentBusyMessage);
    this.blockedBy = blockedBy;
  }
}

/** The caller asked to be queued, but too many operations wait already. */
export class QueueFull extends Error {
  override readonly name = "QueueFull";
}

/** The key, or the company, already follows events as often as it may. The message says which. */
export class TooManyStreams extends Error {
  override readonly name = "TooManyStreams";
}

/** Too many mails were sent. The message says which, and when the next one is possible. */
export class TooManyMails extends Error {
  override readonly name = "TooManyMails";
  readonly seconds: number;
  constructor(message: string, seconds: number) {
    super(message);
    this.seconds = seconds;
  }
}

/** It does not exist, or belongs to another company; callers can't tell which. */
export class NotFound extends Error {
  override readonly name = "NotFound";
}

/** The key is not accepted from the address that the request came from. */
export class AddressNotAllowed extends Error {
  override readonly name = "AddressNotAllowed";
  readonly address: string;
  constructor(address: string) {
    super(
      `This API key can't be used from ${address}. Send the request from one of its allowed addresses, or add this one with a key that may change them.`,
    );
    this.address = address;
  }
}

/** The user has to choose a password before anything else. The message may say how, if they have no session. */
export class PasswordChangeRequired extends Error {
  override readonly name = "PasswordChangeRequired";
}

/** The user of the session has to add a second factor before anything else. */
export class SecondFactorRequired extends Error {
  override readonly name = "SecondFactorRequired";
}

/** A request with a session that no page of this origin has sent. */
export class CrossSiteRequest extends Error {
  override readonly name = "CrossSiteRequest";
}

/** The key belongs to the right company, but its scopes or its user's role are not sufficient. */
export class NotAllowed extends Error {
  override readonly name = "NotAllowed";
  /** A scope (`write`, `site:<id>`, `live`), a role (`role:admin`) or `session`. */
  readonly needs: string;
  constructor(needs: string) {
    super(`Needs ${needs}`);
    this.needs = needs;
  }
}
