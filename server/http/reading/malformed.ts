/** The failure of a request that does not fit the contract. */

/** Number of faults that a response lists. */
export const maxFaults = 100;

export interface Fault {
  readonly path: string;
  readonly message: string;
}

/** The request is malformed; `faults` says where and how. */
export class Malformed extends Error {
  override readonly name = "Malformed";
  readonly faults: readonly Fault[];
  constructor(faults: readonly Fault[]) {
    super("Malformed request");
    this.faults = faults;
  }
}
