/** Errors of certificate authorities. */

/** The authority refused; the message is its own. */
export class AcmeProblem extends Error {
  override readonly name = "AcmeProblem";
  /** Without the ACME prefix: `rateLimited`, `rejectedIdentifier`. */
  readonly type: string;
  readonly status: number;
  /** Milliseconds to wait before the next request, or null if the authority didn't say. */
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

  /** Whether this is a rate limit. */
  get isLimit(): boolean {
    return this.type === "rateLimited" || this.status === 429 || this.status === 503;
  }
}

/** The authority did not answer, or its response is not ACME. */
export class AcmeUnreachable extends Error {
  override readonly name = "AcmeUnreachable";
}

const prefix = "urn:ietf:params:acme:error:";
const maxDetailLength = 500;

/** Strips the ACME prefix from a problem document's type. */
export function shortType(type: string): string {
  return type.startsWith(prefix) ? type.slice(prefix.length) : type;
}

/** Turns untrusted text into one line of limited length. */
export function readableDetail(detail: string): string {
  return detail
    .replace(/\p{Cc}+/gu, " ")
    .trim()
    .slice(0, maxDetailLength);
}
