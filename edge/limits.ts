/** What the edge allows a visitor at most. */
export interface Limits {
  readonly uploadBytes: number;
  /** Within which the head of a request must have come. */
  readonly headSeconds: number;
  /** Within which the whole request must have come, upload included. */
  readonly requestSeconds: number;
  /** After which a connection on which nothing moves is closed; longer than PHP may take for an answer. */
  readonly silenceSeconds: number;
  /** For which what PHP has begun is waited for when its environment is frozen. */
  readonly freezeSeconds: number;
  /** For which a visitor waits whose page can't be made while its environment is frozen. */
  readonly holdSeconds: number;
}
