/** A refusal of a request. */
import type { RefusalCode } from "@sitewright/contract/refusals.ts";

/** There is no such thing. */
export class NotFound extends Error {
  override readonly name = "NotFound";
}

/** A valid request that can't be carried out. */
export class Refusal extends Error {
  override readonly name = "Refusal";
  readonly code: RefusalCode;
  readonly details: Readonly<Record<string, unknown>>;
  constructor(code: RefusalCode, message: string, details: Readonly<Record<string, unknown>> = {}) {
    super(message);
    this.code = code;
    this.details = details;
  }
}

/** Returns the value. Throws `NotFound` if it is undefined. */
export function found<Thing>(thing: Thing | undefined | null): Thing {
  if (thing === undefined || thing === null) throw new NotFound();
  return thing;
}
