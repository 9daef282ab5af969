/** Proves control of a name to an authority by one type of challenge. */

export interface Solver {
  /** The ACME challenge type, such as `http-01`. */
  readonly type: string;
  /** Whether it can solve challenges for this name. */
  canShow(name: ShownName): boolean;
  /** Publishes the response. Resolves when the authority would see it. */
  show(shown: Shown): Promise<void>;
}

export interface ShownName {
  /** The name to prove; for a wildcard, the name after `*.`. */
  readonly host: string;
  /** The challenge name that our DNS server answers, or null if there is none. */
  readonly challengeName: string | null;
}

export interface Shown extends ShownName {
  readonly domainId: string;
  readonly token: string;
  /** The key authorization: the token and the thumbprint of the account's key. */
  readonly content: string;
}
