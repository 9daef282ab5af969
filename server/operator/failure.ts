/** Exit codes of commands that fail, and the error for them. */
export const exitFailed = 1;
export const usageError = 2;

/** A command failed. The message is shown to the operator. */
export class Failure extends Error {
  readonly exitCode: number;
  constructor(message: string, exitCode: number, options?: ErrorOptions) {
    super(message, options);
    this.exitCode = exitCode;
  }
}
