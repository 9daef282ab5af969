/** The largest request body: files, and what else is in a form. */
export interface UploadLimits {
  /** The largest upload, which WordPress shows too. */
  readonly uploadBytes: number;
  /** What the body may contain besides. */
  readonly formBytes: number;
}

export function maxBodyBytes({ uploadBytes, formBytes }: UploadLimits): number {
  return uploadBytes + formBytes;
}

/** Limits for visitors' requests. */
export interface Limits extends UploadLimits {
  /** Open connections, and concurrent HTTP/2 requests, of a visitor's network. */
  readonly connectionsPerNetwork: number;
  /** Timeout for receiving the head of a request. */
  readonly headSeconds: number;
  /** Timeout for receiving the whole request, upload included. */
  readonly requestSeconds: number;
  /** A request body has no minimum speed during this time. */
  readonly bodyGraceSeconds: number;
  /** Bytes of PHP's responses that visitors have not read yet, all together. */
  readonly unreadBytes: number;
  /** An inactive connection is closed after this time. Must be longer than PHP's time limit. */
  readonly silenceSeconds: number;
  /** How long a freeze waits for running PHP requests of the environment. */
  readonly freezeSeconds: number;
  /** How long a visitor waits for a page that can't be rendered while its environment is frozen. */
  readonly holdSeconds: number;
}
