/** How a command of the operator ends where it can't do what was asked. */
export const failed = 1;
export const notUnderstood = 2;

/** What went wrong, in a sentence for the person. */
export class Failure extends Error {
  readonly exitCode: number;
  constructor(message: string, exitCode: number, options?: ErrorOptions) {
    super(message, options);
    this.exitCode = exitCode;
  }
}
