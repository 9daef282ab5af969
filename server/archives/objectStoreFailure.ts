/** The error of a failing archive store. */

interface FailureFacts {
  readonly isTransient: boolean;
  readonly isAbsence?: boolean;
  /** Absent if the message names no place. */
  readonly summary?: string;
}

/** The store failed. The message contains no secrets, so it can be logged. */
export class ObjectStoreFailure extends Error {
  override readonly name = "ObjectStoreFailure";
  /** A sentence for customers, which names no place: `The archive store can't be reached.` */
  readonly summary: string;
  /** Whether a retry may succeed. */
  readonly isTransient: boolean;
  /** Whether the requested object does not exist. */
  readonly isAbsence: boolean;
  constructor(message: string, facts: FailureFacts) {
    super(message);
    this.summary = facts.summary ?? message;
    this.isTransient = facts.isTransient;
    this.isAbsence = facts.isAbsence ?? false;
  }
}
