/** Proves control of a name to an authority by one type of challenge. */

export interface Solver {
  /** The ACME challenge type, such as `http-01`. */
  readonly type: string;
  /** Whether it can solve challenges for this name. */
  canSolve(name: ChallengeTarget): boolean;
  /** Publishes the response. Resolves when the authority would see it. */
  publish(shown: ChallengeResponse): Promise<void>;
}

export interface ChallengeTarget {
  /** The name to prove; for a wildcard, the name after `*.`. */
  readonly host: string;
  /** The challenge name that our DNS server answers, or null if there is none. */
  readonly challengeName: string | null;
}

export interface ChallengeResponse extends ChallengeTarget {
  readonly domainId: string;
  readonly token: string;
  /** The key authorization: the token and the thumbprint of the account's key. */
  readonly content: string;
}
