/** Why a customer's key or certificate can't be used, and which of the two is invalid. */
export interface CustomCertificateProblem {
  readonly field: "custom_ssl_key" | "custom_ssl_cert";
  /** What is wrong and what to do about it, in full sentences. */
  readonly reason: string;
}

/** Thrown by the checks in this folder; `readCustomCertificate` turns it into a result. */
export class InvalidCustomCertificate extends Error {
  override readonly name = "InvalidCustomCertificate";
  readonly problem: CustomCertificateProblem;
  constructor(field: CustomCertificateProblem["field"], reason: string) {
    super(reason);
    this.problem = { field, reason };
  }
}
