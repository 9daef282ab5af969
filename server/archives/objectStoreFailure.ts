/** What is said where an archive store fails. */

interface FailureFacts {
  readonly isTransient: boolean;
  readonly isAbsence?: boolean;
  /** Where the message names places. */
  readonly summary?: string;
}

/** The store did not do what it was asked. Neither key nor secret is in it, so that an operator may read and log it. */
export class ObjectStoreFailure extends Error {
  override readonly name = "ObjectStoreFailure";
  /** A sentence that names no place, so that a customer may read it: `The archive store can't be reached.` */
  readonly summary: string;
  /** Whether the same may succeed in a moment without anybody changing anything. */
  readonly isTransient: boolean;
  /** Whether there is nothing at the place that was asked for. */
  readonly isAbsence: boolean;
  constructor(message: string, facts: FailureFacts) {
    super(message);
    this.summary = facts.summary ?? message;
    this.isTransient = facts.isTransient;
    this.isAbsence = facts.isAbsence ?? false;
  }
}
