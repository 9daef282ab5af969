/** What goes wrong with an authority. */

/** It refused, in its words. */
export class AcmeProblem extends Error {
  override readonly name = "AcmeProblem";
  /** Without the common beginning: `rateLimited`, `rejectedIdentifier`. */
  readonly type: string;
  readonly status: number;
  /** Milliseconds that it wants to be left alone for; null if it said nothing of that. */
  readonly retryAfter: number | null;

  constructor({
    type,
    status,
    detail,
    retryAfter,
  }: Pick<AcmeProblem, "type" | "status" | "retryAfter"> & { readonly detail: string }) {
    super(detail);
    this.type = type;
    this.status = status;
    this.retryAfter = retryAfter;
  }

  /** It said that it has had enough of us, for a while. */
  get isLimit(): boolean {
    return this.type === "rateLimited" || this.status === 429 || this.status === 503;
  }
}

/** There was no answer, or none that belongs to the protocol. */
export class AcmeUnreachable extends Error {
  override readonly name = "AcmeUnreachable";
}

const prefix = "urn:ietf:params:acme:error:";
const longestDetail = 500;

/** A problem document's type without what all have in common. */
export function shortType(type: string): string {
  return type.startsWith(prefix) ? type.slice(prefix.length) : type;
}

/** Foreign text as one line of limited length. */
export function readableDetail(detail: string): string {
  return detail
    .replace(/\p{Cc}+/gu, " ")
    .trim()
    .slice(0, longestDetail);
}
