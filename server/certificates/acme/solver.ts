/** Shows an authority that a name is ours, in one of the ways that it offers. */

export interface Solver {
  /** What ACME calls the way: `http-01`. */
  readonly type: string;
  /** Resolves when the authority, if it looked now, would see it. */
  show(shown: Shown): Promise<void>;
}

export interface Shown {
  readonly domainId: string;
  /** The name that is asked about. */
  readonly host: string;
  readonly token: string;
  /** What belongs to the token: the token and the print of the account's key. */
  readonly content: string;
}
