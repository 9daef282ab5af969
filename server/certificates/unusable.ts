/** Why a customer's key or certificate can't be used, and which of the two is faulty. */
export interface CustomCertificateProblem {
  readonly field: "custom_ssl_key" | "custom_ssl_cert";
  /** A sentence: what is wrong, what to do. */
  readonly reason: string;
}

/** Thrown between the checks of this room; `readCustomCertificate` gives it back as a value. */
export class Unusable extends Error {
  override readonly name = "Unusable";
  readonly problem: CustomCertificateProblem;
  constructor(field: CustomCertificateProblem["field"], reason: string) {
    super(reason);
    this.problem = { field, reason };
  }
}
