/**
 * How a rule says no. None of these knows HTTP: the HTTP room turns each kind into its status. Anything else
 * that is thrown is a fault of ours.
 */
import type { RefusalCode } from "@sitewright/contract/errors.ts";
import { environmentBusyMessage } from "@sitewright/contract/operationKinds.ts";

/** The request is well formed, but what it asks for cannot be. */
export class Refused extends Error {
  override readonly name = "Refused";
  readonly code: RefusalCode;
  /** What else a program may want to know. */
  readonly details: Readonly<Record<string, unknown>>;
  constructor(code: RefusalCode, message: string, details: Readonly<Record<string, unknown>> = {}) {
    super(message);
    this.code = code;
    this.details = details;
  }
}

/** Another operation holds the environment, and the caller asked to be refused then. */
export class Busy extends Error {
  override readonly name = "Busy";
  readonly blockedBy: readonly { readonly id: string; readonly kind: string }[];
  constructor(blockedBy: Busy["blockedBy"]) {
    super(environmentBusyMessage);
    this.blockedBy = blockedBy;
  }
}

/** It does not exist, or belongs to another company; callers can't tell which. */
export class NotFound extends Error {
  override readonly name = "NotFound";
}

/** The key is of the right company, but its scopes or its user's role do not reach this far. */
export class NotAllowed extends Error {
  override readonly name = "NotAllowed";
  /** A scope (`write`, `site:<id>`, `live`) or a role (`role:admin`). */
  readonly needs: string;
  constructor(needs: string) {
    super(`Needs ${needs}`);
    this.needs = needs;
  }
}
