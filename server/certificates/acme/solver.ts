/** Shows an authority that a name is ours, in one of the ways that it offers. */

export interface Solver {
  /** What ACME calls the way: `http-01`. */
  readonly type: string;
  /** Whether it can show this name. */
  canShow(name: ShownName): boolean;
  /** Resolves when the authority, if it looked now, would see it. */
  show(shown: Shown): Promise<void>;
}

export interface ShownName {
  /** The name that is asked about; of a wildcard what is behind its star. */
  readonly host: string;
  /** Where our DNS answers what is asked about it; null: nowhere. */
  readonly challengeName: string | null;
}

export interface Shown extends ShownName {
  readonly domainId: string;
  readonly token: string;
  /** What belongs to the token: the token and the print of the account's key. */
  readonly content: string;
}
